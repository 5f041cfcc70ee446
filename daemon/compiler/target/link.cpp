// SPDX-License-Identifier: Apache-2.0
// link.cpp - the only C++ of the project: LLD as a function, and IR linking with "only needed".
#include <cstring>
#include <string>
#include <vector>

#include <lld/Common/Driver.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/raw_ostream.h>

LLD_HAS_DRIVER(elf)

extern "C" {

int kiln_lld(const char *const *args, size_t n, char *message, size_t cap);
int kiln_link_needed(LLVMModuleRef dest, LLVMModuleRef src);

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

int kiln_link_needed(LLVMModuleRef dest, LLVMModuleRef src)
{
    std::unique_ptr<llvm::Module> from(llvm::unwrap(src));

    return llvm::Linker::linkModules(*llvm::unwrap(dest), std::move(from), llvm::Linker::LinkOnlyNeeded);
}
}
