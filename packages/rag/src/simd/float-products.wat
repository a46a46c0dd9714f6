;; Dot products of one query with many rows of 32-bit floats, and the squares of the rows.
;;
;; `node scripts/build-kernel.mjs` compiles this file into kernels.ts; a test compares the two.
;;
;; Eight sums are kept at once, four of either kind: an addition waits for the one before it in the same sum only.
(module
  (import "quiver" "memory" (memory 1))

  (func $sum (param $a v128) (param $b v128) (param $c v128) (param $d v128) (result f32)
    (local.set $a (f32x4.add (f32x4.add (local.get $a) (local.get $b)) (f32x4.add (local.get $c) (local.get $d))))
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
      (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))

  ;; query:  address of the query
  ;; row:    address of the first row; rows follow each other without a gap
  ;; out:    address of the results, two floats for each row: the product, and the squares of the row
  ;; rows:   how many rows, at least 1
  ;; length: bytes of the query and of a row, a multiple of 4
  (func (export "products")
    (param $query i32) (param $row i32) (param $out i32) (param $rows i32) (param $length i32)
    (local $q i32) (local $end i32) (local $wide i32) (local $x v128) (local $number f32)
    (local $p0 v128) (local $p1 v128) (local $p2 v128) (local $p3 v128) (local $product f32)
    (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128) (local $squares f32)
    (loop $nextRow
      (local.set $q (local.get $query))
      (local.set $end (i32.add (local.get $row) (local.get $length)))
      (local.set $wide (i32.add (local.get $row) (i32.and (local.get $length) (i32.const -64))))
      (local.set $p0 (v128.const i32x4 0 0 0 0)) (local.set $p1 (v128.const i32x4 0 0 0 0))
      (local.set $p2 (v128.const i32x4 0 0 0 0)) (local.set $p3 (v128.const i32x4 0 0 0 0))
      (local.set $s0 (v128.const i32x4 0 0 0 0)) (local.set $s1 (v128.const i32x4 0 0 0 0))
      (local.set $s2 (v128.const i32x4 0 0 0 0)) (local.set $s3 (v128.const i32x4 0 0 0 0))
      (block $noneWide
        (br_if $noneWide (i32.eq (local.get $row) (local.get $wide)))
        (loop $nextWide
          (local.set $x (v128.load (local.get $row)))
          (local.set $p0 (f32x4.add (local.get $p0) (f32x4.mul (local.get $x) (v128.load (local.get $q)))))
          (local.set $s0 (f32x4.add (local.get $s0) (f32x4.mul (local.get $x) (local.get $x))))
          (local.set $x (v128.load offset=16 (local.get $row)))
          (local.set $p1 (f32x4.add (local.get $p1) (f32x4.mul (local.get $x) (v128.load offset=16 (local.get $q)))))
          (local.set $s1 (f32x4.add (local.get $s1) (f32x4.mul (local.get $x) (local.get $x))))
          (local.set $x (v128.load offset=32 (local.get $row)))
          (local.set $p2 (f32x4.add (local.get $p2) (f32x4.mul (local.get $x) (v128.load offset=32 (local.get $q)))))
          (local.set $s2 (f32x4.add (local.get $s2) (f32x4.mul (local.get $x) (local.get $x))))
          (local.set $x (v128.load offset=48 (local.get $row)))
          (local.set $p3 (f32x4.add (local.get $p3) (f32x4.mul (local.get $x) (v128.load offset=48 (local.get $q)))))
          (local.set $s3 (f32x4.add (local.get $s3) (f32x4.mul (local.get $x) (local.get $x))))
          (local.set $row (i32.add (local.get $row) (i32.const 64)))
          (local.set $q (i32.add (local.get $q) (i32.const 64)))
          (br_if $nextWide (i32.lt_u (local.get $row) (local.get $wide)))))
      (local.set $product (call $sum (local.get $p0) (local.get $p1) (local.get $p2) (local.get $p3)))
      (local.set $squares (call $sum (local.get $s0) (local.get $s1) (local.get $s2) (local.get $s3)))
      (block $noneLeft
        (br_if $noneLeft (i32.eq (local.get $row) (local.get $end)))
        (loop $next
          (local.set $number (f32.load (local.get $row)))
          (local.set $product
            (f32.add (local.get $product) (f32.mul (local.get $number) (f32.load (local.get $q)))))
          (local.set $squares (f32.add (local.get $squares) (f32.mul (local.get $number) (local.get $number))))
          (local.set $row (i32.add (local.get $row) (i32.const 4)))
          (local.set $q (i32.add (local.get $q) (i32.const 4)))
          (br_if $next (i32.lt_u (local.get $row) (local.get $end)))))
      (f32.store (local.get $out) (local.get $product))
      (f32.store offset=4 (local.get $out) (local.get $squares))
      (local.set $out (i32.add (local.get $out) (i32.const 8)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br_if $nextRow (local.get $rows)))))
