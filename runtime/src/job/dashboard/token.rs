//! Token of a dashboard: who knows it may look.

#![expect(clippy::disallowed_methods, reason = "nobody outside may guess it, whatever drives the job")]

use std::fmt;

/// A token that nobody can guess.
#[derive(Clone)]
pub(super) struct Token(String);

impl Token {
    pub(super) fn random() -> Self {
        Self(format!("{:032x}", rand::random::<u128>()))
    }

    /// Whether this is the token; takes the same time for all that have its length.
    pub(super) fn is(&self, said: &str) -> bool {
        let differences = self.0.bytes().zip(said.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
        said.len() == self.0.len() && differences == 0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_the_token() {
        let token = Token::random();
        let text = token.to_string();
        assert!(token.is(&text) && text.len() == 32);
        assert_ne!(text, Token::random().to_string());
        for wrong in ["", &text[1..], &format!("{text}0"), &"0".repeat(32)] {
            assert!(!token.is(wrong), "{wrong}");
        }
    }
}
