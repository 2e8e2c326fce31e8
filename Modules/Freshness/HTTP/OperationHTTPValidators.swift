/// What a request sends to ask whether a response is still valid.
///
/// [RFC 9110](https://www.rfc-editor.org/rfc/rfc9110#section-8.8) defines both.
public struct OperationHTTPValidators: Hashable, Sendable {
  /// The value of `ETag`, with its quotation marks; nil without one.
  public let entityTag: String?

  /// The value of `Last-Modified`; nil without one.
  public let lastModified: String?

  /// Creates validators; nil if neither is given. A text that cannot be the value of a field, such as one with an end of
  /// a line, counts as not given.
  ///
  /// - Parameters:
  ///   - entityTag: The value of `ETag`, with its quotation marks.
  ///   - lastModified: The value of `Last-Modified`.
  public init?(entityTag: String?, lastModified: String?) {
    self.entityTag = entityTag?.isFieldValue == true ? entityTag : nil
    self.lastModified = lastModified?.isFieldValue == true ? lastModified : nil
    if self.entityTag == nil, self.lastModified == nil { return nil }
  }

  /// The fields of a request that asks: `If-None-Match`, or `If-Modified-Since` without an entity tag.
  public var headerFields: [(String, String)] {
    if let entityTag { return [("If-None-Match", entityTag)] }
    return self.lastModified.map { [("If-Modified-Since", $0)] } ?? []
  }

  /// Returns the value of an `ETag` field; nil if it is not an entity tag: `"…"` or `W/"…"`.
  static func entityTag(_ text: String) -> String? {
    let bytes = Array((text.hasPrefix("W/") ? text.dropFirst(2) : text[...]).utf8)
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return nil }
    let isValid = bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }
    return isValid ? text : nil
  }
}

extension String {
  /// Whether the text is the value of a field: without controls other than tabs, which could begin a field of their own.
  fileprivate var isFieldValue: Bool { self.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }
}
