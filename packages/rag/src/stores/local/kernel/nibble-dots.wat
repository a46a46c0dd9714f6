;; Dot products of one query with many rows of 4-bit numbers, from 0 to 15, and what divides 8-bit numbers into those.
;;
;; Sixteen bytes of a row hold 32 numbers as eight 16-bit lanes: lane n holds the numbers n, 8 + n, 16 + n and 24 + n, the first in
;; its lowest four bits. The second is not shifted but taken as sixteen times itself; a row's sum of those is divided at the end.
;;
;; `node scripts/build-kernel.mjs` compiles this file into nibble-dots.ts; a test compares the two.
(module
  (import "quiver" "memory" (memory 1))

  ;; query:  address of the query as 16-bit integers, two for each byte of a row; 480 * (stride / 16) times the largest must
  ;;         stay below 2^31
  ;; row:    address of the first row; rows follow each other, `stride` bytes each
  ;; out:    address of the results, one 32-bit integer for each row
  ;; rows:   how many rows, an even number, at least 2: two at a time share what is read of the query
  ;; stride: bytes of a row, a multiple of 16
  (func (export "dots")
    (param $query i32) (param $row i32) (param $out i32) (param $rows i32) (param $stride i32)
    (local $q i32) (local $row0 i32) (local $row1 i32) (local $rowEnd i32) (local $codes v128)
    (local $q0 v128) (local $q1 v128) (local $q2 v128) (local $q3 v128)
    (local $ones0 v128) (local $ones1 v128) (local $sixteens0 v128) (local $sixteens1 v128)
    ;; Engines keep these in registers only when they are variables.
    (local $mask v128) (local $mask16 v128)

    (local.set $mask (v128.const i32x4 0x000f000f 0x000f000f 0x000f000f 0x000f000f))
    (local.set $mask16 (v128.const i32x4 0x00f000f0 0x00f000f0 0x00f000f0 0x00f000f0))
    (local.set $row1 (local.get $row))
    (loop $nextRows
      (local.set $q (local.get $query))
      (local.set $row0 (local.get $row1))
      (local.set $rowEnd (i32.add (local.get $row0) (local.get $stride)))
      (local.set $row1 (local.get $rowEnd))
      (local.set $ones0 (v128.const i32x4 0 0 0 0))
      (local.set $ones1 (v128.const i32x4 0 0 0 0))
      (local.set $sixteens0 (v128.const i32x4 0 0 0 0))
      (local.set $sixteens1 (v128.const i32x4 0 0 0 0))

      (loop $nextCodes
        (local.set $q0 (v128.load (local.get $q)))
        (local.set $q1 (v128.load offset=16 (local.get $q)))
        (local.set $q2 (v128.load offset=32 (local.get $q)))
        (local.set $q3 (v128.load offset=48 (local.get $q)))

        (local.set $codes (v128.load (local.get $row0)))
        (local.set $ones0
          (i32x4.add (local.get $ones0)
            (i32x4.dot_i16x8_s (v128.and (local.get $codes) (local.get $mask)) (local.get $q0))))
        (local.set $sixteens0
          (i32x4.add (local.get $sixteens0)
            (i32x4.dot_i16x8_s (v128.and (local.get $codes) (local.get $mask16)) (local.get $q1))))
        (local.set $ones0
          (i32x4.add (local.get $ones0)
            (i32x4.dot_i16x8_s
              (v128.and (i16x8.shr_u (local.get $codes) (i32.const 8)) (local.get $mask))
              (local.get $q2))))
        (local.set $ones0
          (i32x4.add (local.get $ones0)
            (i32x4.dot_i16x8_s (i16x8.shr_u (local.get $codes) (i32.const 12)) (local.get $q3))))
        (local.set $row0 (i32.add (local.get $row0) (i32.const 16)))

        (local.set $codes (v128.load (local.get $row1)))
        (local.set $ones1
          (i32x4.add (local.get $ones1)
            (i32x4.dot_i16x8_s (v128.and (local.get $codes) (local.get $mask)) (local.get $q0))))
        (local.set $sixteens1
          (i32x4.add (local.get $sixteens1)
            (i32x4.dot_i16x8_s (v128.and (local.get $codes) (local.get $mask16)) (local.get $q1))))
        (local.set $ones1
          (i32x4.add (local.get $ones1)
            (i32x4.dot_i16x8_s
              (v128.and (i16x8.shr_u (local.get $codes) (i32.const 8)) (local.get $mask))
              (local.get $q2))))
        (local.set $ones1
          (i32x4.add (local.get $ones1)
            (i32x4.dot_i16x8_s (i16x8.shr_u (local.get $codes) (i32.const 12)) (local.get $q3))))
        (local.set $row1 (i32.add (local.get $row1) (i32.const 16)))

        (local.set $q (i32.add (local.get $q) (i32.const 64)))
        (br_if $nextCodes (i32.lt_u (local.get $row0) (local.get $rowEnd))))

      (i32.store (local.get $out)
        (call $sumOfLanes (i32x4.add (local.get $ones0) (i32x4.shr_s (local.get $sixteens0) (i32.const 4)))))
      (i32.store offset=4 (local.get $out)
        (call $sumOfLanes (i32x4.add (local.get $ones1) (i32x4.shr_s (local.get $sixteens1) (i32.const 4)))))
      (local.set $out (i32.add (local.get $out) (i32.const 8)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 2)))
      (br_if $nextRows (local.get $rows))))

  ;; Divides 8-bit numbers into halves of 4 bits, in the order that `dots` reads.
  ;;
  ;; codes:  address of the numbers, two for each byte of a row
  ;; high:   where to put the high halves; `low` likewise
  ;; stride: as above
  ;; result: how far numbers lie from those with a low half of 8, as a sum of squares
  (func (export "split")
    (param $codes i32) (param $high i32) (param $low i32) (param $stride i32) (result i32)
    (local $end i32) (local $a v128) (local $b v128) (local $lower v128) (local $upper v128) (local $squares v128)

    (local.set $end (i32.add (local.get $high) (local.get $stride)))
    (loop $next
      (local.set $a (v128.load (local.get $codes)))
      (local.set $b (v128.load offset=16 (local.get $codes)))
      (local.set $lower (i8x16.shuffle 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23 (local.get $a) (local.get $b)))
      (local.set $upper (i8x16.shuffle 8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31 (local.get $a) (local.get $b)))
      (v128.store (local.get $high)
        (v128.or
          (i8x16.shr_u (local.get $lower) (i32.const 4))
          (v128.and (local.get $upper) (v128.const i32x4 0xf0f0f0f0 0xf0f0f0f0 0xf0f0f0f0 0xf0f0f0f0))))
      (v128.store (local.get $low)
        (v128.or
          (v128.and (local.get $lower) (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f))
          (i8x16.shl (local.get $upper) (i32.const 4))))
      (local.set $squares
        (i32x4.add (local.get $squares)
          (i32x4.add (call $squaresOfLow (local.get $a)) (call $squaresOfLow (local.get $b)))))
      (local.set $codes (i32.add (local.get $codes) (i32.const 32)))
      (local.set $high (i32.add (local.get $high) (i32.const 16)))
      (local.set $low (i32.add (local.get $low) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $high) (local.get $end))))
    (call $sumOfLanes (local.get $squares)))

  (func $squaresOfLow (param $codes v128) (result v128)
    (local $distances v128) (local $first v128) (local $second v128)
    (local.set $distances
      (i8x16.sub
        (v128.and (local.get $codes) (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f))
        (v128.const i32x4 0x08080808 0x08080808 0x08080808 0x08080808)))
    (local.set $first (i16x8.extend_low_i8x16_s (local.get $distances)))
    (local.set $second (i16x8.extend_high_i8x16_s (local.get $distances)))
    (i32x4.add
      (i32x4.dot_i16x8_s (local.get $first) (local.get $first))
      (i32x4.dot_i16x8_s (local.get $second) (local.get $second))))

  (func $sumOfLanes (param $lanes v128) (result i32)
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $lanes)) (i32x4.extract_lane 1 (local.get $lanes)))
      (i32.add (i32x4.extract_lane 2 (local.get $lanes)) (i32x4.extract_lane 3 (local.get $lanes))))))
