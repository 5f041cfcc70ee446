// SPDX-License-Identifier: Apache-2.0
// link.cpp - the only C++ of the project: LLD as a function, and IR linking with "only needed".
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <lld/Common/Driver.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>

LLD_HAS_DRIVER(elf)

extern "C" {

int kiln_lld(const char *const *args, size_t n, char *message, size_t cap);
int kiln_link_needed(LLVMModuleRef dest, LLVMModuleRef src);
void kiln_fatal_handlers(void (*fatal)(const char *reason), void (*out_of_memory)(void));

int kiln_lld(const char *const *args, size_t n, char *message, size_t cap)
{
    std::string text;
    llvm::raw_string_ostream err(text), out(text);
    std::vector<const char *> argv(args, args + n);
    lld::Result r = lld::lldMain(argv, out, err, { { lld::Gnu, &lld::elf::link } });

    err.flush();
    if (cap) {
        std::strncpy(message, text.c_str(), cap - 1);
        message[cap - 1] = '\0';
    }
    return r.retCode;
}

static void (*on_fatal)(const char *reason);
static void (*on_memory)(void);

void kiln_fatal_handlers(void (*fatal)(const char *reason), void (*out_of_memory)(void))
{
    on_fatal = fatal;
    on_memory = out_of_memory;
    llvm::install_fatal_error_handler([](void *, const char *reason, bool) { on_fatal(reason); }, nullptr);
    llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { on_memory(); }, nullptr);
    std::set_new_handler(out_of_memory);
}

int kiln_link_needed(LLVMModuleRef dest, LLVMModuleRef src)
{
    std::unique_ptr<llvm::Module> from(llvm::unwrap(src));

    return llvm::Linker::linkModules(*llvm::unwrap(dest), std::move(from), llvm::Linker::LinkOnlyNeeded);
}
}
