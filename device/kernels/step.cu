// Kernels that step by plans: blocks of bytes from places of one memory to places of another.
//
// 1. A team of lanes copies one block, word by word, neighbours in a team next to each other; teams take blocks in turns.
// 2. Words are as long as both addresses, the block and all strides allow: the host chooses the kernel by it.
// 3. Offsets have 64 bits. Nobody else touches what is written, and nothing is read that is written.
//
// `cargo xtask kernels` compiles this to `step.ptx`.

typedef unsigned long long u64;
typedef long long i64;

// As in `src/launch/sections.rs`; places are counted from address zero, or from those that a launch is given.
struct Loop {
    u64 count;
    i64 source;
    i64 target;
};

#define LOOPS_MAX 6

struct Nest {
    u64 source;
    u64 target;
    u64 block;
    u64 blocks;
    u64 loops;
    Loop loop[LOOPS_MAX];
};

// As in `src/cuda/kernels/mod.rs`. A column that is null is computed: places go on by `bytes` from piece to piece, and all lengths are that.
struct Pieces {
    u64 source;
    u64 target;
    const unsigned* sources;
    const unsigned* targets;
    const unsigned* lengths;
    u64 bytes;
    u64 count;
};

struct Job {
    // Blocks of all nests before it.
    u64 first;
    Nest nest;
};

struct alignas(16) Sixteen {
    u64 words[2];
};

template <typename Word>
__device__ void copy_block(u64 source, u64 target, u64 bytes, unsigned lane, unsigned lanes) {
    const Word* from = reinterpret_cast<const Word*>(source);
    Word* to = reinterpret_cast<Word*>(target);
    for (u64 word = lane; word < bytes / sizeof(Word); word += lanes) to[word] = from[word];
}

// One block of a nest, whose places are counted from these addresses.
template <typename Word>
__device__ void step_block(const Nest& nest, u64 source, u64 target, u64 block, unsigned lane, unsigned lanes) {
    u64 left = block;
    source += nest.source;
    target += nest.target;
    for (int at = LOOPS_MAX - 1; at >= 0; at--) {
        if (at >= (int)nest.loops) continue;
        const Loop& loop = nest.loop[at];
        i64 step = (i64)(left % loop.count);
        left /= loop.count;
        source += (u64)(step * loop.source);
        target += (u64)(step * loop.target);
    }
    copy_block<Word>(source, target, nest.block, lane, lanes);
}

// A team has two to the power of `lane_bits` lanes, which are neighbours; whole teams make up a block of threads.
template <typename Word>
__device__ void step_nest(const Nest& nest, unsigned lane_bits) {
    u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 teams = (u64)gridDim.x * blockDim.x >> lane_bits;
    unsigned lanes = 1u << lane_bits, lane = (unsigned)thread & (lanes - 1);
    for (u64 block = thread >> lane_bits; block < nest.blocks; block += teams) {
        step_block<Word>(nest, 0, 0, block, lane, lanes);
    }
}

// Many nests, whose blocks are counted on: a team looks up whose its block is.
template <typename Word>
__device__ void step_nests(const Job* jobs, u64 count, u64 blocks, u64 source, u64 target, unsigned lane_bits) {
    u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 teams = (u64)gridDim.x * blockDim.x >> lane_bits;
    unsigned lanes = 1u << lane_bits, lane = (unsigned)thread & (lanes - 1);
    for (u64 block = thread >> lane_bits; block < blocks; block += teams) {
        u64 low = 0, high = count;
        while (high - low > 1) {
            u64 middle = (low + high) / 2;
            if (jobs[middle].first <= block) low = middle;
            else high = middle;
        }
        step_block<Word>(jobs[low].nest, source, target, block - jobs[low].first, lane, lanes);
    }
}

template <typename Word>
__device__ void step_pieces(const Pieces& pieces, unsigned lane_bits) {
    u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 teams = (u64)gridDim.x * blockDim.x >> lane_bits;
    unsigned lanes = 1u << lane_bits, lane = (unsigned)thread & (lanes - 1);
    for (u64 piece = thread >> lane_bits; piece < pieces.count; piece += teams) {
        u64 even = piece * pieces.bytes;
        u64 source = pieces.source + (pieces.sources ? pieces.sources[piece] : even);
        u64 target = pieces.target + (pieces.targets ? pieces.targets[piece] : even);
        u64 bytes = pieces.lengths ? pieces.lengths[piece] : pieces.bytes;
        copy_block<Word>(source, target, bytes, lane, lanes);
    }
}

#define KERNELS(bytes, Word)                                                                             \
    extern "C" __global__ void step_nest_##bytes(const Nest nest, unsigned lane_bits) {                  \
        step_nest<Word>(nest, lane_bits);                                                                \
    }                                                                                                    \
    extern "C" __global__ void step_nests_##bytes(const Job* jobs, u64 count, u64 blocks, u64 source,    \
                                                  u64 target, unsigned lane_bits) {                      \
        step_nests<Word>(jobs, count, blocks, source, target, lane_bits);                                \
    }                                                                                                    \
    extern "C" __global__ void step_pieces_##bytes(const Pieces pieces, unsigned lane_bits) {            \
        step_pieces<Word>(pieces, lane_bits);                                                            \
    }

KERNELS(1, unsigned char)
KERNELS(2, unsigned short)
KERNELS(4, unsigned)
KERNELS(8, u64)
KERNELS(16, Sixteen)
