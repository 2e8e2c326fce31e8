internal import OperationFoundation

extension UUID: KeyPart {
  func append(to text: inout KeyText) {
    text.append(self.uuidString)
  }
}

extension Date: KeyPart {
  func append(to text: inout KeyText) {
    self.timeIntervalSinceReferenceDate.append(to: &text)
  }
}

extension Data: KeyPart {
  func append(to text: inout KeyText) {
    let digits = Array("0123456789ABCDEF".utf8)
    text.append(String(decoding: self.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self))
  }
}

extension URL: KeyPart {
  func append(to text: inout KeyText) {
    text.append(escaping: self.relativeString)
    guard let base = self.baseURL else { return }
    text.append("~")
    base.append(to: &text)
  }
}

extension Decimal: KeyPart {
  func append(to text: inout KeyText) {
    // `1.0` and `1.00` are equal, and have different digits.
    var digits = self.description[...]
    if digits.contains(".") {
      while digits.last == "0" { digits.removeLast() }
      if digits.last == "." { digits.removeLast() }
    }
    text.append(digits == "-0" ? "0" : String(digits))
  }
}
