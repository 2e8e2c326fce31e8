/// Reads numbers of JSON without exponents.
enum DecimalText {
  /// The number nearest to the text, which consists of digits, with a point between them or none, and a sign or none.
  static func number(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    let isNegative = text.first == UInt8(ascii: "-")
    var (digits, divisor): (UInt64, UInt64) = (0, 0)
    for byte in text.dropFirst(isNegative ? 1 : 0) {
      if byte == UInt8(ascii: ".") {
        divisor = 1
      } else {
        digits = digits &* 10 &+ UInt64(byte &- UInt8(ascii: "0"))
        divisor &*= 10
      }
    }
    // Of two numbers that are exact, the quotient is the nearest one, and takes a tenth of the time.
    guard text.count <= 18, digits < 1 << 53 else { return Double(String(decoding: text, as: UTF8.self)) }
    let number = divisor > 1 ? Double(digits) / Double(divisor) : Double(digits)
    return isNegative ? -number : number
  }
}
