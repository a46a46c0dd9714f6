;; Dot products of one query with many rows of 4-bit numbers, from 0 to 15, and what rounds vectors to such rows.
;;
;; Sixteen bytes of a row hold 32 numbers as eight 16-bit lanes: lane n holds the numbers n, 8 + n, 16 + n and 24 + n, the first in
;; its lowest four bits. The second is not shifted but taken as sixteen times itself; a row's sum of those is divided at the end.
;;
;; `node scripts/build-kernel.mjs` compiles this file into kernels.ts; a test compares the two.
(module
  (import "quiver" "memory" (memory 1))

  ;; query:  address of the query as 16-bit integers, two for each byte of a row; 480 * (stride / 16) times the largest must
  ;;         stay below 2^31
  ;; row:    address of the first row; rows follow each other, `stride` bytes each
  ;; list:   address of the addresses of the rows, as 32-bit integers, for rows that do not follow each other; otherwise 0
  ;; out:    address of the results, one 32-bit integer for each row
  ;; rows:   how many rows, an even number, at least 2: two at a time share what is read of the query
  ;; stride: bytes of a row, a multiple of 16
  (func (export "dots")
    (param $query i32) (param $row i32) (param $list i32) (param $out i32) (param $rows i32) (param $stride i32)
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
      (if (local.get $list)
        (then
          (local.set $row0 (i32.load (local.get $list)))
          (local.set $row1 (i32.load offset=4 (local.get $list)))
          (local.set $rowEnd (i32.add (local.get $row0) (local.get $stride)))
          (local.set $list (i32.add (local.get $list) (i32.const 8))))
        (else
          (local.set $row0 (local.get $row1))
          (local.set $rowEnd (i32.add (local.get $row0) (local.get $stride)))
          (local.set $row1 (local.get $rowEnd))))
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

  ;; Rounds a row to integers from -119 to 119, stores them 136 larger, and divides those into halves of 4 bits, in the order that
  ;; `dots` reads.
  ;;
  ;; row:    address of the row as 32-bit floats, two for each byte of `stride`
  ;; codes:  address of as many 32-bit numbers, for use in between
  ;; high:   where to put the high halves; `low` likewise
  ;; stride: as above
  ;; out:    address of the results, four 32-bit floats: what multiplied the numbers before they were rounded; the squares of the
  ;;         numbers, so multiplied; of what they lose; and of what they lose without the low halves. row-bounds.ts says how far
  ;;         off they can be.
  (func (export "quantize")
    (param $row i32) (param $codes i32) (param $high i32) (param $low i32) (param $stride i32) (param $out i32)
    (local $inverse f32)
    (local.set $inverse (call $inverseOfStep (local.get $row) (local.get $stride)))
    (f32.store (local.get $out) (local.get $inverse))
    (call $round (local.get $row) (local.get $codes) (local.get $stride) (local.get $inverse) (local.get $out))
    (call $split (local.get $codes) (local.get $high) (local.get $low) (local.get $stride)))

  ;; What makes the number of largest size 119; at most 2^127, where that is too small a number or zero.
  (func $inverseOfStep (param $row i32) (param $stride i32) (result f32)
    (local $end i32) (local $a v128) (local $b v128)
    (local.set $end (i32.add (local.get $row) (i32.shl (local.get $stride) (i32.const 3))))
    (loop $next
      (local.set $a (f32x4.pmax (local.get $a) (f32x4.abs (v128.load (local.get $row)))))
      (local.set $b (f32x4.pmax (local.get $b) (f32x4.abs (v128.load offset=16 (local.get $row)))))
      (local.set $row (i32.add (local.get $row) (i32.const 32)))
      (br_if $next (i32.lt_u (local.get $row) (local.get $end))))
    (local.set $a (f32x4.pmax (local.get $a) (local.get $b)))
    (f32.min
      (f32.const 0x1p127)
      (f32.div
        (f32.const 119)
        (f32.max
          (f32.max (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
          (f32.max (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))))

  ;; Between 2^23 and 2^24 all floats are integers, so adding 0xc00000 to a small number rounds it. With 0x88 more, the lowest byte
  ;; of the sum is the integer to be stored, and without its lowest four bits the sum is that of the high half.
  (func $round (param $row i32) (param $codes i32) (param $stride i32) (param $inverse f32) (param $out i32)
    (local $end i32) (local $exact v128) (local $rounded v128) (local $lost v128)
    (local $squares v128) (local $lostSquares v128) (local $lostSquaresWithoutLow v128)
    (local $factor v128) (local $zero v128) (local $zeroOfHigh v128) (local $high v128)

    (local.set $factor (f32x4.splat (local.get $inverse)))
    (local.set $zero (f32x4.splat (f32.const 0xc00088)))
    (local.set $zeroOfHigh (f32x4.splat (f32.const 0xc00080)))
    (local.set $high (i32x4.splat (i32.const 0xfffffff0)))
    (local.set $end (i32.add (local.get $row) (i32.shl (local.get $stride) (i32.const 3))))
    (loop $next
      (local.set $exact (f32x4.mul (v128.load (local.get $row)) (local.get $factor)))
      (local.set $squares (f32x4.add (local.get $squares) (f32x4.mul (local.get $exact) (local.get $exact))))
      (local.set $rounded (f32x4.add (local.get $exact) (local.get $zero)))
      (v128.store (local.get $codes) (local.get $rounded))
      (local.set $lost (f32x4.sub (local.get $exact) (f32x4.sub (local.get $rounded) (local.get $zero))))
      (local.set $lostSquares (f32x4.add (local.get $lostSquares) (f32x4.mul (local.get $lost) (local.get $lost))))
      (local.set $lost
        (f32x4.sub
          (local.get $exact)
          (f32x4.sub (v128.and (local.get $rounded) (local.get $high)) (local.get $zeroOfHigh))))
      (local.set $lostSquaresWithoutLow
        (f32x4.add (local.get $lostSquaresWithoutLow) (f32x4.mul (local.get $lost) (local.get $lost))))
      (local.set $row (i32.add (local.get $row) (i32.const 16)))
      (local.set $codes (i32.add (local.get $codes) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $row) (local.get $end))))
    (f32.store offset=4 (local.get $out) (call $sumOfFloats (local.get $squares)))
    (f32.store offset=8 (local.get $out) (call $sumOfFloats (local.get $lostSquares)))
    (f32.store offset=12 (local.get $out) (call $sumOfFloats (local.get $lostSquaresWithoutLow))))

  (func $split (param $codes i32) (param $high i32) (param $low i32) (param $stride i32)
    (local $end i32) (local $first v128) (local $second v128) (local $third v128) (local $fourth v128)
    (local $byte v128) (local $ones v128) (local $sixteens v128)
    (local.set $byte (i32x4.splat (i32.const 0xff)))
    (local.set $ones (i16x8.splat (i32.const 0x0f)))
    (local.set $sixteens (i16x8.splat (i32.const 0xf0)))
    (local.set $end (i32.add (local.get $high) (local.get $stride)))
    (loop $next
      (local.set $first
        (i16x8.narrow_i32x4_u
          (v128.and (v128.load (local.get $codes)) (local.get $byte))
          (v128.and (v128.load offset=16 (local.get $codes)) (local.get $byte))))
      (local.set $second
        (i16x8.narrow_i32x4_u
          (v128.and (v128.load offset=32 (local.get $codes)) (local.get $byte))
          (v128.and (v128.load offset=48 (local.get $codes)) (local.get $byte))))
      (local.set $third
        (i16x8.narrow_i32x4_u
          (v128.and (v128.load offset=64 (local.get $codes)) (local.get $byte))
          (v128.and (v128.load offset=80 (local.get $codes)) (local.get $byte))))
      (local.set $fourth
        (i16x8.narrow_i32x4_u
          (v128.and (v128.load offset=96 (local.get $codes)) (local.get $byte))
          (v128.and (v128.load offset=112 (local.get $codes)) (local.get $byte))))
      (v128.store (local.get $high)
        (v128.or
          (v128.or
            (i16x8.shr_u (local.get $first) (i32.const 4))
            (v128.and (local.get $second) (local.get $sixteens)))
          (v128.or
            (i16x8.shl (v128.and (local.get $third) (local.get $sixteens)) (i32.const 4))
            (i16x8.shl (v128.and (local.get $fourth) (local.get $sixteens)) (i32.const 8)))))
      (v128.store (local.get $low)
        (v128.or
          (v128.or
            (v128.and (local.get $first) (local.get $ones))
            (i16x8.shl (v128.and (local.get $second) (local.get $ones)) (i32.const 4)))
          (v128.or
            (i16x8.shl (v128.and (local.get $third) (local.get $ones)) (i32.const 8))
            (i16x8.shl (local.get $fourth) (i32.const 12)))))
      (local.set $codes (i32.add (local.get $codes) (i32.const 128)))
      (local.set $high (i32.add (local.get $high) (i32.const 16)))
      (local.set $low (i32.add (local.get $low) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $high) (local.get $end)))))

  (func $sumOfFloats (param $lanes v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $lanes)) (f32x4.extract_lane 1 (local.get $lanes)))
      (f32.add (f32x4.extract_lane 2 (local.get $lanes)) (f32x4.extract_lane 3 (local.get $lanes)))))

  (func $sumOfLanes (param $lanes v128) (result i32)
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $lanes)) (i32x4.extract_lane 1 (local.get $lanes)))
      (i32.add (i32x4.extract_lane 2 (local.get $lanes)) (i32x4.extract_lane 3 (local.get $lanes))))))
