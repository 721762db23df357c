// Kernels that step by plans: blocks of bytes from places of one memory to places of another.
//
// 1. A team of lanes copies one block, word by word, neighbours in a team next to each other; teams take blocks in turns.
// 2. Words are as long as both addresses, the block and all strides allow: the host chooses the kernel by it.
// 3. Offsets have 64 bits. Nobody else touches what is written, and nothing is read that is written.
//
// `cargo xtask kernels` compiles this to `step.ptx`.

typedef unsigned long long u64;
typedef long long i64;

// As in `src/cuda/launch/mod.rs`.
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

struct Piece {
    u64 source;
    u64 target;
    u64 bytes;
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

// One block of a nest.
template <typename Word>
__device__ void step_block(const Nest& nest, u64 block, unsigned lane, unsigned lanes) {
    u64 source = nest.source, target = nest.target, left = block;
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
        step_block<Word>(nest, block, lane, lanes);
    }
}

// The nests of several plans, whose blocks are counted on: a team looks up whose its block is.
template <typename Word>
__device__ void step_nests(const Job* jobs, u64 count, u64 blocks, unsigned lane_bits) {
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
        step_block<Word>(jobs[low].nest, block - jobs[low].first, lane, lanes);
    }
}

template <typename Word>
__device__ void step_pieces(const Piece* pieces, u64 count, unsigned lane_bits) {
    u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 teams = (u64)gridDim.x * blockDim.x >> lane_bits;
    unsigned lanes = 1u << lane_bits, lane = (unsigned)thread & (lanes - 1);
    for (u64 piece = thread >> lane_bits; piece < count; piece += teams) {
        const Piece& one = pieces[piece];
        copy_block<Word>(one.source, one.target, one.bytes, lane, lanes);
    }
}

#define KERNELS(bytes, Word)                                                                             \
    extern "C" __global__ void step_nest_##bytes(const Nest nest, unsigned lane_bits) {                  \
        step_nest<Word>(nest, lane_bits);                                                                \
    }                                                                                                    \
    extern "C" __global__ void step_nests_##bytes(const Job* jobs, u64 count, u64 blocks,                \
                                                  unsigned lane_bits) {                                  \
        step_nests<Word>(jobs, count, blocks, lane_bits);                                                \
    }                                                                                                    \
    extern "C" __global__ void step_pieces_##bytes(const Piece* pieces, u64 count, unsigned lane_bits) { \
        step_pieces<Word>(pieces, count, lane_bits);                                                     \
    }

KERNELS(1, unsigned char)
KERNELS(2, unsigned short)
KERNELS(4, unsigned)
KERNELS(8, u64)
KERNELS(16, Sixteen)
