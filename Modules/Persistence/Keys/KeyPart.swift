internal import OperationCore

/// A value of a type that the library can write to keys.
protocol KeyPart {
  /// The name of the type, which no other type has.
  static var keyName: String { get throws(NoStorageKey) }

  func append(to text: inout KeyText) throws(NoStorageKey)
}

extension KeyPart {
  static var keyName: String { "\(Self.self)" }
}

// MARK: - Numbers

extension KeyPart where Self: FixedWidthInteger {
  func append(to text: inout KeyText) {
    text.append("\(self)")
  }
}

extension Int: KeyPart {}
extension Int8: KeyPart {}
extension Int16: KeyPart {}
extension Int32: KeyPart {}
extension Int64: KeyPart {}
extension Int128: KeyPart {}
extension UInt: KeyPart {}
extension UInt8: KeyPart {}
extension UInt16: KeyPart {}
extension UInt32: KeyPart {}
extension UInt64: KeyPart {}
extension UInt128: KeyPart {}

extension KeyPart where Self: BinaryFloatingPoint {
  func append(to text: inout KeyText) {
    // The zeros of both signs are equal.
    let sign = self.sign == .minus && self != 0 ? "-" : ""
    text.append("\(sign)\(self.exponentBitPattern).\(self.significandBitPattern)")
  }
}

extension Float: KeyPart {}
extension Double: KeyPart {}

#if !(os(macOS) && arch(x86_64))
  extension Float16: KeyPart {}
#endif

#if arch(x86_64) && !os(Windows) && !os(Android)
  extension Float80: KeyPart {}
#endif

extension Bool: KeyPart {
  func append(to text: inout KeyText) {
    text.append("\(self)")
  }
}

extension Duration: KeyPart {
  func append(to text: inout KeyText) {
    text.append("\(self.attoseconds)")
  }
}

// MARK: - Text

extension String: KeyPart {
  func append(to text: inout KeyText) {
    text.append(escaping: self)
  }
}

extension Substring: KeyPart {
  func append(to text: inout KeyText) {
    text.append(escaping: String(self))
  }
}

extension Character: KeyPart {
  func append(to text: inout KeyText) {
    text.append(escaping: String(self))
  }
}

extension Unicode.Scalar: KeyPart {
  static var keyName: String { "Unicode.Scalar" }

  func append(to text: inout KeyText) {
    text.append("\(self.value)")
  }
}
