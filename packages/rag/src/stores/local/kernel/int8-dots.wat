;; Dot products of one query with many rows of 8-bit integers.
;;
;; `node scripts/build-kernel.mjs` compiles this file into int8-dots.ts; a test compares the two.
(module
  (import "quiver" "memory" (memory 1))

  ;; query:  address of the query as 16-bit integers, `stride` of them
  ;; row:    address of the first row; rows follow each other, `stride` bytes each
  ;; out:    address of the results, one 32-bit integer for each row
  ;; rows:   how many rows, at least 1
  ;; stride: bytes of a row, a multiple of 16
  (func (export "dots")
    (param $query i32) (param $row i32) (param $out i32) (param $rows i32) (param $stride i32)
    (local $q i32) (local $rowEnd i32) (local $bytes v128) (local $low v128) (local $high v128)

    (loop $nextRow
      (local.set $q (local.get $query))
      (local.set $rowEnd (i32.add (local.get $row) (local.get $stride)))
      (local.set $low (v128.const i32x4 0 0 0 0))
      (local.set $high (v128.const i32x4 0 0 0 0))

      (loop $nextBytes
        (local.set $bytes (v128.load (local.get $row)))
        (local.set $low
          (i32x4.add (local.get $low)
            (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $bytes)) (v128.load (local.get $q)))))
        (local.set $high
          (i32x4.add (local.get $high)
            (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $bytes)) (v128.load offset=16 (local.get $q)))))
        (local.set $row (i32.add (local.get $row) (i32.const 16)))
        (local.set $q (i32.add (local.get $q) (i32.const 32)))
        (br_if $nextBytes (i32.lt_u (local.get $row) (local.get $rowEnd))))

      ;; the four partial sums, added up
      (local.set $low (i32x4.add (local.get $low) (local.get $high)))
      (i32.store (local.get $out)
        (i32.add
          (i32.add (i32x4.extract_lane 0 (local.get $low)) (i32x4.extract_lane 1 (local.get $low)))
          (i32.add (i32x4.extract_lane 2 (local.get $low)) (i32x4.extract_lane 3 (local.get $low)))))

      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br_if $nextRow (local.get $rows)))))
