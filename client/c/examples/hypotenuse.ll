; SPDX-License-Identifier: Apache-2.0
define double @hypotenuse(double %a, double %b) {
  %aa = fmul double %a, %a
  %bb = fmul double %b, %b
  %sum = fadd double %aa, %bb
  %root = call double @llvm.sqrt.f64(double %sum)
  ret double %root
}
declare double @llvm.sqrt.f64(double)
