/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/ir/type.h"

static struct arena arena;
static struct type_table *table;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 64u << 20);
    table = type_table_new(&arena);
    return table ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const struct type *parsed(const char *text)
{
    struct kiln_err e = KILN_ERR_INIT;
    const struct type *t = NULL;

    if (type_parse(table, text, strlen(text), &t, &e))
        fail_msg("%s: %s", text, e.msg);
    return t;
}

/* Text as written, canonical text. */
static const char *const spellings[][2] = {
    { "none", "none" },
    { "void", "none" },
    { "None", "none" },
    { "bool", "bool" },
    { "boolean", "bool" },
    { "b1", "bool" },
    { "bool_", "bool" },
    { "int8", "int8" },
    { "i1", "int8" },
    { "char", "int8" },
    { "i2", "int16" },
    { "i4", "int32" },
    { "intc", "int32" },
    { "i8", "int64" },
    { "int_", "int64" },
    { "intp", "int64" },
    { "int", "int64" },
    { "longlong", "int64" },
    { "u1", "uint8" },
    { "uchar", "uint8" },
    { "u2", "uint16" },
    { "u4", "uint32" },
    { "u8", "uint64" },
    { "uintp", "uint64" },
    { "size_t", "uint64" },
    { "f2", "float16" },
    { "f4", "float32" },
    { "float_", "float32" },
    { "f8", "float64" },
    { "float", "float64" },
    { "double", "float64" },
    { "c8", "complex64" },
    { "c16", "complex128" },
    { "pyint", "pyint" },
    { "pyfloat", "pyfloat" },
    { "pycomplex", "pycomplex" },
    { "unicode_type", "unicode_type" },
    { "string", "unicode_type" },
    { "bytes_type", "bytes_type" },
    { "types.float64", "float64" },
    { "numba.types.int32", "int32" },
    { "np.float32", "float32" },
    { "f8[:]", "float64[:]" },
    { " float64 [ : ] ", "float64[:]" },
    { "f8[::1]", "float64[::1]" },
    { "f8[:,:]", "float64[:, :]" },
    { "f8[:,::1]", "float64[:, ::1]" },
    { "f8[::1,:]", "float64[::1, :]" },
    { "i4[:,:,::1]", "int32[:, :, ::1]" },
    { "i4[::1,:,:]", "int32[::1, :, :]" },
    { "Array(float64, 1, 'C')", "float64[::1]" },
    { "Array(f8, 2, 'F')", "float64[::1, :]" },
    { "Array(f8, 1, 'F')", "float64[::1]" },
    { "Array(f8, 2, \"A\")", "float64[:, :]" },
    { "Array(f8, 0, 'C')", "Array(float64, 0, 'C')" },
    { "Array(f8, 0, 'A')", "Array(float64, 0, 'C')" },
    { "Array(f8, 1, 'C', readonly=True)", "Array(float64, 1, 'C', readonly=True)" },
    { "Array(f8, 1, 'C', True)", "Array(float64, 1, 'C', readonly=True)" },
    { "Array(f8, 1, 'C', False, aligned=True)", "float64[::1]" },
    { "Array(dtype=f8, ndim=2, layout='A', aligned=False)", "Array(float64, 2, 'A', aligned=False)" },
    { "Array(f8, 3, 'F', readonly=True, aligned=False)",
      "Array(float64, 3, 'F', readonly=True, aligned=False)" },
    { "array(float64, 2d, C)", "float64[:, ::1]" },
    { "readonly array(float64, 1d, C)", "Array(float64, 1, 'C', readonly=True)" },
    { "UniTuple(i8, 3)", "Tuple((int64, int64, int64))" },
    { "UniTuple(int64 x 2)", "Tuple((int64, int64))" },
    { "UniTuple(f8[:], 1)", "Tuple((float64[:],))" },
    { "UniTuple(i8, 0)", "Tuple(())" },
    { "Tuple((i8, f8))", "Tuple((int64, float64))" },
    { "Tuple([i8, f8,])", "Tuple((int64, float64))" },
    { "Tuple(i8, f8)", "Tuple((int64, float64))" },
    { "Tuple((i8,))", "Tuple((int64,))" },
    { "Tuple(())", "Tuple(())" },
    { "Tuple()", "Tuple(())" },
    { "Tuple((Tuple((i8, f8)), f4[:]))", "Tuple((Tuple((int64, float64)), float32[:]))" },
    { "NamedTuple(2, (i8, f8))", "NamedTuple(2, (int64, float64))" },
    { "optional(i8)", "optional(int64)" },
    { "Optional(optional(i8))", "optional(int64)" },
    { "optional(none)", "none" },
    { "CPointer(f8)", "CPointer(float64)" },
    { "voidptr", "voidptr" },
    { "CPointer(void)", "voidptr" },
    { "CPointer(CPointer(i1))", "CPointer(CPointer(int8))" },
    { "Enum(0)", "Enum(0)" },
    { "optional(IntEnum( 3 ))", "optional(IntEnum(3))" },
    { "class(f4)", "class(float32)" },
    { "dtype(f4)", "class(float32)" },
    { "function(2)", "function(2)" },
    { "Record(x[type=i8;offset=0],y[type=f4;offset=8];12;False)",
      "Record(x[type=int64;offset=0],y[type=float32;offset=8];12;False)" },
    { "Record(x[type=i1;offset=0], y[type=f8;offset=8]; 16; True)[::1]",
      "Record(x[type=int8;offset=0],y[type=float64;offset=8];16;True)[::1]" },
    { "Record('a b'[type=b1;offset=1];2;False;unaligned;readonly)",
      "Record('a b'[type=bool;offset=1];2;False;readonly;unaligned)" },
    { "Record('a\\'\\\\'[type=i1;offset=0];1;False)", "Record('a\\'\\\\'[type=int8;offset=0];1;False)" },
    { "Record(n[type=Record(c[type=c8;offset=0];8;False);offset=2],m[type=nestedarray(f8,(3,2));offset=10];60;False)",
      "Record(n[type=Record(c[type=complex64;offset=0];8;False);offset=2],m[type=nestedarray(float64, (3, 2));"
      "offset=10];60;False)" },
    { "Record(a[type=nestedarray(u1, (4,));offset=0];4;True)", "Record(a[type=nestedarray(uint8, (4,));offset=0];4;True)" },
    { "Record(;8;False)", "Record(;8;False)" },
    { "Record(a[type=[char x 3];offset=0],b[type=[unichr x 2];offset=4];12;True)",
      "Record(a[type=[char x 3];offset=0],b[type=[unichr x 2];offset=4];12;True)" },
};

static void test_spellings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        const struct type *t = parsed(spellings[i][0]);
        assert_string_equal(type_text(&arena, t), spellings[i][1]);
        assert_ptr_equal(parsed(spellings[i][1]), t); /* interned, and the canonical text reads back */
    }
}

static void test_every_named_kind_reads_back(void **state)
{
    static const char *const names[] = {
#define X(NAME, text, class, bits, numpy) text,
#include "proto/ir/types.def"
#undef X
    };

    (void)state;
    for (int k = 0; k < TY__COUNT; k++)
        if (*names[k])
            assert_int_equal(parsed(names[k])->kind, k);
}

/* A bad text and a part of its message. */
static const char *const errors[][2] = {
    { "", "column 1: expected a type but the text ends" },
    { "floot64", "column 1: unknown type 'floot64'; did you mean 'float64'?" },
    { "in64", "did you mean 'int64'?" },
    { "tuple((i8,))", "did you mean 'Tuple'?" },
    { "completely_wrong", "column 1: unknown type 'completely_wrong'" },
    { "i8 i8", "column 4: unexpected 'i' after the type" },
    { "f8[", "column 4: expected ':' but the text ends" },
    { "f8[1]", "column 4: expected ':' before '1'" },
    { "f8[::2]", "column 6: a step in an array type is '::1'" },
    { "f8[::1, ::1]", "marks one dimension" },
    { "f8[:, ::1, :]", "marks one dimension" },
    { "f8[:,:", "expected ']' but the text ends" },
    { "f8[:][:]", "unexpected '['" },
    { "unicode_type[:]", "column 1: arrays hold numbers of a fixed size, not unicode_type" },
    { "pyint[:]", "not pyint" },
    { "Array(f8, 1)", "Array needs" },
    { "Array(f8, 1, 'D')", "expected the layout 'C', 'F' or 'A', not 'D'" },
    { "Array(f8, 99, 'C')", "expected a number up to 32" },
    { "Array(f8, x, 'C')", "expected a number up to 32, not 'x'" },
    { "Array(f8, 1, 'C', readonly=Yes)", "expected True or False, not 'Yes'" },
    { "Array(f8, 1, 'C', colour=True)", "Array takes" },
    { "Array(f8, 1, 'C', layout='C')", "each once" },
    { "Array(f8, 1, 'C'", "expected ','" },
    { "UniTuple(i8)", "expected ',' before ')'" },
    { "UniTuple(i8, 99999)", "expected a number up to 4096" },
    { "Tuple((i8, f8)", "expected ')' but the text ends" },
    { "Tuple((i8 f8))", "expected ',' before 'f'" },
    { "optional(i8", "expected ')' but the text ends" },
    { "optional()", "expected a type before ')'" },
    { "UniTuple(UniTuple(UniTuple(i8, 100), 100), 100)", "type is too large" },
    { "Record(x[type=i8;offset=4];8;False)", "field 'x' reaches past the record's 8 bytes" },
    { "Record(x[type=i8;offset=4];12;True)", "field 'x' is not aligned" },
    { "Record(x[type=i8;offset=0];12;True)", "the size of an aligned record is a multiple of 8" },
    { "Record(x[type=i8;offset=0],x[type=i1;offset=8];12;False)", "two fields are named 'x'" },
    { "Record(x[type=pyint;offset=0];8;False)", "fields are numbers" },
    { "Record(x[type=[bytes x 4];offset=0];8;False)", "expected 'char' or 'unichr', not 'bytes'" },
    { "Record(x[type=[char 4];offset=0];8;False)", "expected 'x', not '4'" },
    { "Record(x[type=f8[:];offset=0];80;False)", "fields are numbers" },
    { "Record([type=i8;offset=0];8;False)", "expected the name of a field" },
    { "Record(x[kind=i8;offset=0];8;False)", "expected 'type=', not 'kind'" },
    { "Record(x[type=i8;offset=0];8;False;odd)", "expected 'readonly' or 'unaligned'" },
    { "Record(x[type=i8;offset=0];99999999;False)", "expected a number up to" },
    { "Record(x[type=nestedarray(f8, (9999, 9999));offset=0];8;False)", "a record of more than" },
    { "Record(x[type=nestedarray(pyint, (2,));offset=0];8;False)", "nested arrays hold" },
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        struct kiln_err e = KILN_ERR_INIT;
        const struct type *t;
        if (!type_parse(table, errors[i][0], strlen(errors[i][0]), &t, &e))
            fail_msg("'%s' was accepted", errors[i][0]);
        assert_int_equal(e.code, KILN_E_SIGNATURE);
        if (!strstr(e.msg, errors[i][1]))
            fail_msg("'%s': %s", errors[i][0], e.msg);
    }
}

static void test_deep_nesting_is_refused(void **state)
{
    char text[4000] = "";
    struct kiln_err e = KILN_ERR_INIT;
    const struct type *t;

    (void)state;
    for (int i = 0; i < 200; i++)
        strcat(text, "optional(");
    assert_int_equal(type_parse(table, text, strlen(text), &t, &e), -KILN_E_SIGNATURE);
    assert_non_null(strstr(e.msg, "nested more than 64 deep"));
}

/* A tuple of twice the last one, over and over: refused when it would be too long to write. */
static void test_sharing_is_bounded(void **state)
{
    const struct type *t = type_scalar(table, TY_INT8);
    int levels = 0;

    (void)state;
    while (t && levels < 100) {
        const struct type *pair[2] = { t, t };
        t = type_tuple(table, pair, 2, 0);
        levels += t != NULL;
    }
    assert_null(t);
    assert_in_range(levels, 10, 12);
}

static void test_interning_tells_apart(void **state)
{
    const struct type *i = type_scalar(table, TY_INT64), *f = type_scalar(table, TY_FLOAT64);
    const struct type *one[] = { i }, *other[] = { f };
    const struct type *all[] = {
        i,
        f,
        type_array(table, i, 1, 'C', false, false),
        type_array(table, i, 1, 'A', false, false),
        type_array(table, i, 1, 'C', true, false),
        type_array(table, i, 1, 'C', false, true),
        type_array(table, i, 2, 'C', false, false),
        type_array(table, f, 1, 'C', false, false),
        type_tuple(table, one, 1, 0),
        type_tuple(table, other, 1, 0),
        type_tuple(table, one, 1, 1),
        type_of(table, TY_OPTIONAL, i),
        type_of(table, TY_POINTER, i),
        type_of(table, TY_TYPEVALUE, i),
        type_named(table, TY_LIBRARY, "a", NULL, NULL, 0),
        type_named(table, TY_LIBRARY, "b", NULL, NULL, 0),
        type_function(table, false, 1, NULL, 0),
        type_function(table, false, 2, NULL, 0),
        type_function(table, false, 1, one, 1),
    };
    size_t n = sizeof all / sizeof all[0];

    (void)state;
    for (size_t x = 0; x < n; x++)
        for (size_t y = 0; y < x; y++)
            assert_ptr_not_equal(all[x], all[y]);
    assert_ptr_equal(type_array(table, i, 1, 'F', false, false), all[2]);
    assert_ptr_equal(type_tuple(table, one, 1, 0), all[8]);
    assert_ptr_equal(type_function(table, false, 1, one, 1), all[n - 1]);
    assert_null(type_array(table, i, 33, 'C', false, false));
}

static void test_many_types(void **state)
{
    const struct type *t = type_scalar(table, TY_INT8), *first = NULL;
    char name[16];

    (void)state;
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        t = type_named(table, TY_METHOD, name, type_scalar(table, TY_INT8), NULL, 0);
        assert_non_null(t);
        first = first ? first : t;
    }
    assert_ptr_equal(type_named(table, TY_METHOD, "n0", type_scalar(table, TY_INT8), NULL, 0), first);
}

static void test_classes(void **state)
{
    (void)state;
    assert_true(type_is_number(parsed("bool")) && !type_is_integer(parsed("bool")));
    assert_true(type_is_integer(parsed("uint8")) && !type_is_signed(parsed("uint8")));
    assert_true(type_is_integer(parsed("pyint")) && type_is_signed(parsed("pyint")) &&
                type_is_weak(parsed("pyint")));
    assert_true(type_is_float(parsed("pyfloat")) && type_is_float(parsed("float16")));
    assert_true(type_is_complex(parsed("complex64")) && type_is_complex(parsed("pycomplex")));
    assert_false(type_is_number(parsed("f8[:]")) || type_is_number(parsed("none")) ||
                 type_is_weak(parsed("int64")));
    assert_int_equal(type_bits(parsed("complex128")), 128);
    assert_int_equal(type_bits(parsed("f8[:]")), 0);
    assert_int_equal(type_numpy(parsed("float16")), 23);
    assert_int_equal(type_numpy(parsed("pyint")), -1);
}

static const struct {
    const char *text;
    uint32_t size8, align8, size4, align4;
} layouts[] = {
    { "none", 0, 1, 0, 1 },
    { "bool", 1, 1, 1, 1 },
    { "int64", 8, 8, 8, 8 },
    { "float16", 2, 2, 2, 2 },
    { "pyint", 8, 8, 8, 8 },
    { "complex64", 8, 4, 8, 4 },
    { "complex128", 16, 8, 16, 8 },
    { "float64[:]", 32, 8, 16, 4 },
    { "float64[:, :]", 48, 8, 24, 4 },
    { "Array(float64, 0, 'C')", 16, 8, 8, 4 },
    { "voidptr", 8, 8, 4, 4 },
    { "unicode_type", 32, 8, 16, 4 },
    { "bytes_type", 24, 8, 12, 4 },
    { "optional(int8)", 2, 1, 2, 1 },
    { "optional(float64)", 16, 8, 16, 8 },
    { "optional(float64[:])", 40, 8, 20, 4 },
    { "Tuple(())", 0, 1, 0, 1 },
    { "Tuple((int8, int64, int8))", 24, 8, 24, 8 },
    { "Tuple((int8, int16, none, int8))", 6, 2, 6, 2 },
    { "Tuple((int8, float64[:]))", 40, 8, 20, 4 },
    { "Tuple((complex64, bool))", 12, 4, 12, 4 },
};

static void test_layouts(void **state)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct layout l;

    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        const struct type *t = parsed(layouts[i].text);
        assert_int_equal(type_layout(t, 8, &l, &e), 0);
        if (l.size != layouts[i].size8 || l.align != layouts[i].align8)
            fail_msg("%s: %u/%u", layouts[i].text, l.size, l.align);
        assert_int_equal(type_layout(t, 4, &l, &e), 0);
        if (l.size != layouts[i].size4 || l.align != layouts[i].align4)
            fail_msg("%s, 4 bytes: %u/%u", layouts[i].text, l.size, l.align);
    }
    assert_int_equal(type_layout(type_scalar(table, TY_UNSET), 8, &l, &e), -KILN_E_INVALID);
}

static void test_out_of_memory_is_null(void **state)
{
    struct arena small;
    struct type_table *t;
    const struct type *x;
    int made = 0;

    (void)state;
    arena_init(&small, 4096);
    t = type_table_new(&small);
    assert_non_null(t);
    x = type_scalar(t, TY_INT8);
    while (x && made++ < 1000)
        x = type_of(t, TY_POINTER, x);
    assert_null(x);
    arena_done(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_spellings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_named_kind_reads_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deep_nesting_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sharing_is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_interning_tells_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_types, setup, teardown),
        cmocka_unit_test_setup_teardown(test_classes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_layouts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_out_of_memory_is_null, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
