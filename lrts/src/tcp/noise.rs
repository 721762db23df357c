//! Primitives of Noise: what `snow` computes its handshakes with. The AEAD is that of frames, so that a program has one; X25519 and SHA-256
//! come from `curve25519-dalek` and `sha2`.

use crate::aead::{Aead, KEY_BYTES, TAG_BYTES};
use curve25519_dalek::montgomery::MontgomeryPoint;
use rand::TryRng;
use rand::rngs::SysRng;
use sha2::{Digest, Sha256};
use snow::params::{CipherChoice, DHChoice, HashChoice, NoiseParams};
use snow::resolvers::CryptoResolver;
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, Error};

/// A handshake by these primitives.
pub(super) fn builder<'a>(parameters: NoiseParams) -> Builder<'a> {
    Builder::with_resolver(parameters, Box::new(Primitives))
}

struct Primitives;

impl CryptoResolver for Primitives {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Chance))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        matches!(choice, DHChoice::Curve25519).then(|| Box::<X25519>::default() as _)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        matches!(choice, HashChoice::SHA256).then(|| Box::<Sha>::default() as _)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        matches!(choice, CipherChoice::AESGCM).then(|| Box::new(AesGcm(Aead::new(&[0; KEY_BYTES]))) as _)
    }
}

/// The operating system's chance.
struct Chance;

impl Random for Chance {
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        SysRng.try_fill_bytes(bytes).map_err(|_| Error::Rng)
    }
}

/// A pair of keys.
#[derive(Default)]
struct X25519 {
    private: [u8; KEY_BYTES],
    public: [u8; KEY_BYTES],
}

impl Dh for X25519 {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        KEY_BYTES
    }

    fn priv_len(&self) -> usize {
        KEY_BYTES
    }

    fn set(&mut self, private: &[u8]) {
        self.private.copy_from_slice(private);
        self.public = MontgomeryPoint::mul_base_clamped(self.private).to_bytes();
    }

    fn generate(&mut self, chance: &mut dyn Random) -> Result<(), Error> {
        let mut private = [0; KEY_BYTES];
        chance.try_fill_bytes(&mut private)?;
        self.set(&private);
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        &self.public
    }

    fn privkey(&self) -> &[u8] {
        &self.private
    }

    fn dh(&self, public: &[u8], shared: &mut [u8]) -> Result<(), Error> {
        // `snow` gives more room than a key takes.
        let public = public.first_chunk().ok_or(Error::Dh)?;
        let point = MontgomeryPoint(*public).mul_clamped(self.private);
        shared[..KEY_BYTES].copy_from_slice(point.as_bytes());
        Ok(())
    }
}

#[derive(Default)]
struct Sha(Sha256);

impl Hash for Sha {
    fn name(&self) -> &'static str {
        "SHA256"
    }

    fn block_len(&self) -> usize {
        64
    }

    fn hash_len(&self) -> usize {
        32
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn input(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn result(&mut self, digest: &mut [u8]) {
        digest[..32].copy_from_slice(&self.0.finalize_reset());
    }
}

/// One key; each of its messages ends in a tag.
struct AesGcm(Aead);

impl Cipher for AesGcm {
    fn name(&self) -> &'static str {
        "AESGCM"
    }

    fn set(&mut self, key: &[u8; KEY_BYTES]) {
        self.0 = Aead::new(key);
    }

    fn encrypt(&self, number: u64, associated: &[u8], plain: &[u8], out: &mut [u8]) -> usize {
        let (data, tag) = out[..plain.len() + TAG_BYTES].split_at_mut(plain.len());
        data.copy_from_slice(plain);
        tag.copy_from_slice(&self.0.make(number, associated, data));
        plain.len() + TAG_BYTES
    }

    fn decrypt(&self, number: u64, associated: &[u8], sealed: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        let (data, tag) = sealed.split_last_chunk::<TAG_BYTES>().ok_or(Error::Decrypt)?;
        let plain = &mut out[..data.len()];
        plain.copy_from_slice(data);
        match self.0.check(number, associated, plain, tag) {
            true => Ok(data.len()),
            false => Err(Error::Decrypt),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aead::rekey;

    /// The messages of a handshake by the primitives that `snow` brings itself, with the keys below.
    const PLAYED: [&str; 3] = [
        "a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209c712839987ce873ed774b054797161c4848a37d5d4",
        "ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba05870e587d5986a12eba66c684948dd8e881837bc8ce",
        "825705604e9be20fa9c7560673b52b1a422187a232",
    ];

    /// The messages of a handshake whose keys are no secret.
    fn played() -> [Vec<u8>; 3] {
        let build = |ephemeral: &'static [u8; KEY_BYTES]| {
            builder("Noise_NNpsk0_25519_AESGCM_SHA256".parse().expect("it is one"))
                .psk(0, &[3; KEY_BYTES])
                .and_then(|builder| builder.prologue(b"prologue"))
                .expect("once each")
                .fixed_ephemeral_key_for_testing_only(ephemeral)
        };
        let mut one = build(&[1; KEY_BYTES]).build_initiator().expect("it is complete");
        let mut two = build(&[2; KEY_BYTES]).build_responder().expect("it is complete");
        let (mut message, mut payload) = ([0; 128], [0; 128]);
        let len = one.write_message(b"first", &mut message).expect("its turn");
        let first = message[..len].to_vec();
        assert_eq!(
            two.read_message(&first, &mut payload).map(|len| payload[..len].to_vec()),
            Ok(b"first".to_vec())
        );
        let len = two.write_message(&[], &mut message).expect("its turn");
        let second = message[..len].to_vec();
        assert!(one.read_message(&second[..second.len() - 1], &mut payload).is_err(), "it is cut");
        one.read_message(&second, &mut payload).expect("right");
        let (key, _) = one.dangerously_get_raw_split();
        let mut one = one.into_transport_mode().expect("it is over");
        let len = one.write_message(b"hello", &mut message).expect("its turn");
        let third = message[..len].to_vec();
        one.rekey_outgoing();
        let len = one.write_message(b"hello", &mut message).expect("its turn");
        let mut data = *b"hello";
        let tag = Aead::new(&rekey(&key)).seal(1, &mut data);
        assert_eq!(message[..len], [&data[..], &tag].concat(), "the next key is that of Noise");
        [first, second, third]
    }

    #[test]
    fn handshakes_are_those_of_other_primitives() {
        let text = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(played().map(text), PLAYED);
    }

    #[test]
    fn keys_of_a_handshake_are_drawn() {
        let mut keys = [X25519::default(), X25519::default()];
        keys.iter_mut().for_each(|pair| pair.generate(&mut Chance).expect("there is chance"));
        let [one, two] = keys;
        assert_ne!(one.privkey(), two.privkey());
        let (mut of_one, mut of_two) = ([0; KEY_BYTES], [0; KEY_BYTES]);
        one.dh(two.pubkey(), &mut of_one).expect("a key");
        two.dh(one.pubkey(), &mut of_two).expect("a key");
        assert_eq!(of_one, of_two);
        assert_eq!(one.dh(&[0; KEY_BYTES - 1], &mut of_one), Err(Error::Dh));
    }
}
