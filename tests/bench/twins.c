/* SPDX-License-Identifier: Apache-2.0
 * twins.c - functions of corpus.py as a C programmer would write them with the same meaning: 64-bit
 * integers that wrap, negative indexes counted from the end, no bounds checks, floor division. */
#include <math.h>
#include <stdint.h>

struct f64s {
    double *data;
    int64_t n;
};
struct i64s {
    int64_t *data;
    int64_t n;
};

#define AT(a, i) ((a).data[(i) + ((i) < 0 ? (a).n : 0)])

static int64_t floordiv(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - ((a % b != 0) & ((a ^ b) < 0));
}

static int64_t floormod(int64_t a, int64_t b)
{
    int64_t r = a % b;
    return ((r != 0) & ((r ^ b) < 0)) ? r + b : r;
}

double polynomial(double x)
{
    return ((1.5 * x - 2.25) * x + 0.5) * x - 3.0;
}

double hypotenuse(double x, double y)
{
    return sqrt(x * x + y * y);
}

int64_t collatz(int64_t n)
{
    int64_t steps = 0;
    while (n != 1) {
        n = floormod(n, 2) == 0 ? floordiv(n, 2) : 3 * n + 1;
        steps++;
    }
    return steps;
}

/* -1: division by zero, which the loop's condition rules out; INT64_MIN % -1 is 0. */
int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t r = b == -1 ? 0 : floormod(a, b);
        a = b;
        b = r;
    }
    return a;
}

double total(struct f64s a)
{
    double s = 0;
    for (int64_t i = 0; i < a.n; i++)
        s += a.data[i];
    return s;
}

double dot(struct f64s a, struct f64s b)
{
    double s = 0;
    for (int64_t i = 0; i < a.n; i++)
        s += a.data[i] * b.data[i];
    return s;
}

void axpy(double alpha, struct f64s x, struct f64s y)
{
    for (int64_t i = 0; i < x.n; i++)
        y.data[i] = alpha * x.data[i] + y.data[i];
}

double largest(struct f64s a)
{
    double best = a.data[0];
    for (int64_t i = 1; i < a.n; i++)
        if (a.data[i] > best)
            best = a.data[i];
    return best;
}

void histogram(struct i64s values, struct i64s counts)
{
    for (int64_t i = 0; i < values.n; i++)
        AT(counts, values.data[i]) += 1;
}

void prefix(struct i64s a, struct i64s out)
{
    int64_t s = 0;
    for (int64_t i = 0; i < a.n; i++) {
        s += a.data[i];
        out.data[i] = s;
    }
}

int64_t search(struct f64s a, double wanted)
{
    int64_t low = 0, high = a.n;
    while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (AT(a, middle) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t mandelbrot_point(double re, double im, int64_t limit)
{
    double zr = 0, zi = 0;
    int64_t n = 0;
    while (n < limit && zr * zr + zi * zi <= 4.0) {
        double t = zr * zr - zi * zi + re;
        zi = 2.0 * zr * zi + im;
        zr = t;
        n++;
    }
    return n;
}

double black_scholes(double s, double x, double t, double r, double v)
{
    double root = sqrt(t);
    double d1 = (log(s / x) + (r + 0.5 * v * v) * t) / (v * root);
    double d2 = d1 - v * root;
    return s * 0.5 * erfc(-d1 / sqrt(2.0)) - x * exp(-r * t) * 0.5 * erfc(-d2 / sqrt(2.0));
}

void bubble(struct f64s a)
{
    for (int64_t i = 0; i < a.n; i++)
        for (int64_t j = 0; j < a.n - 1 - i; j++)
            if (a.data[j] > a.data[j + 1]) {
                double t = a.data[j];
                a.data[j] = a.data[j + 1];
                a.data[j + 1] = t;
            }
}
