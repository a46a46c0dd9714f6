;; Dot products of each row of one block with each row of another, all of them 16-bit integers.
;;
;; `node scripts/build-kernel.mjs` compiles this file into kernels.ts; a test compares the two.
;;
;; Eight sums are kept in registers at once, of four rows and two rows: each number that is loaded is used several times.
(module
  (import "quiver" "memory" (memory 1))

  (func $sum (param $v v128) (result i32)
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $v)) (i32x4.extract_lane 1 (local.get $v)))
      (i32.add (i32x4.extract_lane 2 (local.get $v)) (i32x4.extract_lane 3 (local.get $v)))))

  ;; a, b:   addresses of the first rows; rows follow each other, `stride` bytes each
  ;; out:    address of the results, 32-bit integers: all of the first row of a, then all of the second, ...
  ;; aRows:  how many rows, a multiple of 4, at least 4
  ;; bRows:  how many rows, a multiple of 2, at least 2
  ;; stride: bytes of a row, a multiple of 16
  (func (export "products")
    (param $a i32) (param $b i32) (param $out i32) (param $aRows i32) (param $bRows i32) (param $stride i32)
    (local $a1 i32) (local $a2 i32) (local $a3 i32) (local $b0 i32) (local $b1 i32) (local $at i32) (local $j i32)
    (local $pitch i32) (local $o i32)
    (local $x0 v128) (local $x1 v128) (local $y v128)
    (local $s00 v128) (local $s01 v128) (local $s10 v128) (local $s11 v128)
    (local $s20 v128) (local $s21 v128) (local $s30 v128) (local $s31 v128)

    (local.set $pitch (i32.shl (local.get $bRows) (i32.const 2)))
    (loop $nextA
      (local.set $a1 (i32.add (local.get $a) (local.get $stride)))
      (local.set $a2 (i32.add (local.get $a1) (local.get $stride)))
      (local.set $a3 (i32.add (local.get $a2) (local.get $stride)))
      (local.set $b0 (local.get $b))
      (local.set $o (local.get $out))
      (local.set $j (local.get $bRows))
      (loop $nextB
        (local.set $b1 (i32.add (local.get $b0) (local.get $stride)))
        (local.set $s00 (v128.const i32x4 0 0 0 0)) (local.set $s01 (v128.const i32x4 0 0 0 0))
        (local.set $s10 (v128.const i32x4 0 0 0 0)) (local.set $s11 (v128.const i32x4 0 0 0 0))
        (local.set $s20 (v128.const i32x4 0 0 0 0)) (local.set $s21 (v128.const i32x4 0 0 0 0))
        (local.set $s30 (v128.const i32x4 0 0 0 0)) (local.set $s31 (v128.const i32x4 0 0 0 0))
        (local.set $at (i32.const 0))
        (loop $next
          (local.set $x0 (v128.load (i32.add (local.get $b0) (local.get $at))))
          (local.set $x1 (v128.load (i32.add (local.get $b1) (local.get $at))))
          (local.set $y (v128.load (i32.add (local.get $a) (local.get $at))))
          (local.set $s00 (i32x4.add (local.get $s00) (i32x4.dot_i16x8_s (local.get $y) (local.get $x0))))
          (local.set $s01 (i32x4.add (local.get $s01) (i32x4.dot_i16x8_s (local.get $y) (local.get $x1))))
          (local.set $y (v128.load (i32.add (local.get $a1) (local.get $at))))
          (local.set $s10 (i32x4.add (local.get $s10) (i32x4.dot_i16x8_s (local.get $y) (local.get $x0))))
          (local.set $s11 (i32x4.add (local.get $s11) (i32x4.dot_i16x8_s (local.get $y) (local.get $x1))))
          (local.set $y (v128.load (i32.add (local.get $a2) (local.get $at))))
          (local.set $s20 (i32x4.add (local.get $s20) (i32x4.dot_i16x8_s (local.get $y) (local.get $x0))))
          (local.set $s21 (i32x4.add (local.get $s21) (i32x4.dot_i16x8_s (local.get $y) (local.get $x1))))
          (local.set $y (v128.load (i32.add (local.get $a3) (local.get $at))))
          (local.set $s30 (i32x4.add (local.get $s30) (i32x4.dot_i16x8_s (local.get $y) (local.get $x0))))
          (local.set $s31 (i32x4.add (local.get $s31) (i32x4.dot_i16x8_s (local.get $y) (local.get $x1))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $next (i32.lt_u (local.get $at) (local.get $stride))))
        (i32.store (local.get $o) (call $sum (local.get $s00)))
        (i32.store offset=4 (local.get $o) (call $sum (local.get $s01)))
        (local.set $at (i32.add (local.get $o) (local.get $pitch)))
        (i32.store (local.get $at) (call $sum (local.get $s10)))
        (i32.store offset=4 (local.get $at) (call $sum (local.get $s11)))
        (local.set $at (i32.add (local.get $at) (local.get $pitch)))
        (i32.store (local.get $at) (call $sum (local.get $s20)))
        (i32.store offset=4 (local.get $at) (call $sum (local.get $s21)))
        (local.set $at (i32.add (local.get $at) (local.get $pitch)))
        (i32.store (local.get $at) (call $sum (local.get $s30)))
        (i32.store offset=4 (local.get $at) (call $sum (local.get $s31)))
        (local.set $o (i32.add (local.get $o) (i32.const 8)))
        (local.set $b0 (i32.add (local.get $b1) (local.get $stride)))
        (local.set $j (i32.sub (local.get $j) (i32.const 2)))
        (br_if $nextB (local.get $j)))
      (local.set $a (i32.add (local.get $a3) (local.get $stride)))
      (local.set $out (i32.add (local.get $out) (i32.shl (local.get $pitch) (i32.const 2))))
      (local.set $aRows (i32.sub (local.get $aRows) (i32.const 4)))
      (br_if $nextA (local.get $aRows)))))
