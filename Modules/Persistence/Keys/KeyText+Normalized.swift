#if canImport(Darwin)
  internal import Foundation
#else
  // The standard library has no public normalization yet.
  @_spi(_Unicode) internal import Swift
#endif

extension KeyText {
  /// The composed form of a string (NFC), which is the same for all strings that are equal.
  static func normalized(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    #if canImport(Darwin)
      return text.precomposedStringWithCanonicalMapping
    #else
      return String(String.UnicodeScalarView(text._nfc))
    #endif
  }
}
