// The work that no fit can do without, as fast as C does it: benchmarks/limit.py compiles and times it.
#include <stdint.h>
#include <string.h>

typedef int64_t i64;

// e^x for x <= 0: x = n ln 2 + r, a polynomial of r times 2^n. The large number rounds to the nearest whole number.
static inline float exp32(float x) {
    const float big = 12582912.0f;
    x = x < -87.0f ? -87.0f : x;
    float shifted = x * 1.44269504f + big, n = shifted - big, r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f; p = p * r + 8.3334519073e-3f; p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f; p = p * r + 5.0000001201e-1f; p = p * r * r + r + 1.0f;
    int32_t bits;
    memcpy(&bits, &shifted, 4);
    bits = (int32_t)((uint32_t)(bits + 127) << 23);
    float power;
    memcpy(&power, &bits, 4);
    return p * power;
}

static inline double exp64(double x) {
    static const double c[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                               1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0};
    const double big = 6755399441055744.0;
    x = x < -700.0 ? -700.0 : x;
    double shifted = x * 1.4426950408889634 + big, n = shifted - big, r = (x - n * 6.93147180369123816e-1) - n * 1.90821492927058770e-10;
    double p = c[0];
    for (int k = 1; k < 13; k++) p = p * r + c[k];
    i64 bits;
    memcpy(&bits, &shifted, 8);
    bits = (i64)((uint64_t)(bits + 1023) << 52);
    double power;
    memcpy(&power, &bits, 8);
    return p * power;
}

#define TILE 256

// rows: out[r][t] = exp(2g x.z - g|x|^2 - g|z|^2) for the examples x in `chosen` and all z; Z holds feature after feature.
// exponentials: the same of products that are there.
// steps: each selects the partner of largest gain in one row, updates G by two rows, and finds the next extremes.
#define KERNELS(T, NAME, WIDE, EXP)                                                                                     \
    typedef T NAME##_vector __attribute__((vector_size(32), aligned(sizeof(T))));                                       \
    static void NAME##_exponentials_of(i64 n, T *v, T a, const T *b) {                                                  \
        for (i64 t = 0; t < n; t++) { T e = v[t] - a - b[t]; v[t] = EXP(e < 0 ? e : 0); }                               \
    }                                                                                                                   \
    void NAME##_exponentials(i64 m, i64 n, const i64 *chosen, const T *norms, T twice, T *out) {                        \
        for (i64 r = 0; r < m; r++) {                                                                                   \
            T *row = out + r * n;                                                                                       \
            for (i64 t = 0; t < n; t++) row[t] *= twice;                                                                \
            NAME##_exponentials_of(n, row, norms[chosen[r]], norms);                                                    \
        }                                                                                                               \
    }                                                                                                                   \
    void NAME##_rows(i64 m, i64 n, i64 d, i64 width, const i64 *chosen, const T *Z, const T *norms, T twice, T *out) {  \
        for (i64 r = 0; r < m; r += 4)                                                                                  \
            for (i64 t = 0; t < n; t += 2 * WIDE) {                                                                     \
                NAME##_vector sums[4][2] = {{{0}}};                                                                     \
                for (i64 k = 0; k < d; k++) {                                                                           \
                    const T *z = Z + k * width;                                                                         \
                    NAME##_vector one = *(const NAME##_vector *)(z + t), two = *(const NAME##_vector *)(z + t + WIDE);  \
                    for (int a = 0; a < 4; a++) {                                                                       \
                        T x = twice * z[chosen[r + a < m ? r + a : r]];                                                 \
                        sums[a][0] += x * one; sums[a][1] += x * two;                                                   \
                    }                                                                                                   \
                }                                                                                                       \
                i64 many = n - t < 2 * WIDE ? n - t : 2 * WIDE;                                                         \
                for (int a = 0; a < 4 && r + a < m; a++) {                                                              \
                    T v[2 * WIDE];                                                                                      \
                    memcpy(v, sums[a], sizeof v);                                                                       \
                    NAME##_exponentials_of(2 * WIDE, v, norms[chosen[r + a]], norms + t);                               \
                    memcpy(out + (r + a) * n + t, v, many * sizeof(T));                                                 \
                }                                                                                                       \
            }                                                                                                           \
    }                                                                                                                   \
    i64 NAME##_steps(i64 m, i64 rows, i64 steps, const T *K, double *G) {                                               \
        i64 top = 0, total = 0;                                                                                         \
        uint64_t random = 88172645463325252ull;                                                                         \
        for (i64 k = 0; k < steps; k++) {                                                                               \
            random ^= random << 13; random ^= random >> 7; random ^= random << 17;                                      \
            const T *Ki = K + (i64)(random % rows) * m, *Kj = K + (i64)(random / 65536 % rows) * m;                     \
            double Gi = G[top], mu = k & 1 ? 1e-9 : -1e-9, best = -1.0, highest = -1e300;                               \
            i64 tile = 0, first = 0;                                                                                    \
            for (i64 s = 0; s < m; s += TILE) {                                                                         \
                i64 e = s + TILE < m ? s + TILE : m;                                                                    \
                double most = -1.0;                                                                                     \
                for (i64 t = s; t < e; t++) {                                                                           \
                    double slope = Gi - G[t], q = 2.0 - 2.0 * Ki[t] + 1e-12;                                            \
                    slope = slope > 0.0 ? slope : 0.0;                                                                  \
                    double gain = slope * slope / q;                                                                    \
                    most = gain > most ? gain : most;                                                                   \
                }                                                                                                       \
                tile = most > best ? s : tile; best = most > best ? most : best;                                        \
            }                                                                                                           \
            for (i64 s = 0; s < m; s += TILE) {                                                                         \
                i64 e = s + TILE < m ? s + TILE : m;                                                                    \
                double most = -1e300;                                                                                   \
                for (i64 t = s; t < e; t++) {                                                                           \
                    double g = G[t] - mu * ((double)Ki[t] - (double)Kj[t]);                                             \
                    G[t] = g;                                                                                           \
                    most = g > most ? g : most;                                                                         \
                }                                                                                                       \
                first = most > highest ? s : first; highest = most > highest ? most : highest;                          \
            }                                                                                                           \
            for (top = first; top + 1 < m && G[top] != highest; top++) {}                                               \
            total += tile;                                                                                              \
        }                                                                                                               \
        return total + top;                                                                                             \
    }

KERNELS(float, float32, 8, exp32)
KERNELS(double, float64, 4, exp64)

i64 read_all(i64 n, const i64 *v) {
    i64 total = 0;
    for (i64 t = 0; t < n; t++) total += v[t];
    return total;
}
