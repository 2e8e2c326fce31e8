internal import Counters

/// Uses a number, so that the optimizer has to compute it.
@inline(__always)
func keep(_ number: Int) {
  use_word(number)
}

/// Uses a truth value, so that the optimizer has to compute it.
@inline(__always)
func keep(_ value: Bool) {
  use_word(value ? 1 : 0)
}

/// Uses an object, so that the optimizer has to make it.
@inline(__always)
func keep(_ object: AnyObject) {
  use_word(Int(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
}
