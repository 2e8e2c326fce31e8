/// The directives of a `Cache-Control` field: [RFC 9111](https://www.rfc-editor.org/rfc/rfc9111#section-5.2) and
/// [RFC 5861](https://www.rfc-editor.org/rfc/rfc5861).
struct CacheControl: Hashable, Sendable {
  /// A number of seconds, or what was written in its place.
  enum Seconds: Hashable, Sendable {
    case number(Int)
    /// Not a number: the value is stale.
    case invalid
  }

  var maximumAge: Seconds?
  var sharedMaximumAge: Seconds?
  var isNotStored = false
  /// Whether it is for one user, and a shared cache must not keep it.
  var isPrivate = false
  var isPublic = false
  var isNotUsedUnvalidated = false
  var mustRevalidate = false
  var proxyMustRevalidate = false
  var staleWhileRevalidate: Seconds?
  var staleIfError: Seconds?

  /// Reads the values of fields. Unknown directives are ignored, and of repeated ones the first counts.
  ///
  /// - Parameter values: The values, each read for itself: a quotation ends in the value in which it begins.
  init(_ values: [String]) {
    for value in values {
      for element in QuotedList.elements(of: Array(value.utf8)) {
        let (name, argument) = QuotedList.directive(element)
        self.add(name, argument)
      }
    }
  }

  private mutating func add(_ name: String, _ argument: [UInt8]?) {
    switch name {
    case "max-age": self.maximumAge = self.maximumAge ?? Self.seconds(argument)
    case "s-maxage": self.sharedMaximumAge = self.sharedMaximumAge ?? Self.seconds(argument)
    case "stale-while-revalidate": self.staleWhileRevalidate = self.staleWhileRevalidate ?? Self.seconds(argument)
    case "stale-if-error": self.staleIfError = self.staleIfError ?? Self.seconds(argument)
    // Also with the names of fields as its argument, for which it alone would count.
    case "no-cache": self.isNotUsedUnvalidated = true
    case "no-store": self.isNotStored = true
    // Also with the names of fields, like `no-cache`.
    case "private": self.isPrivate = true
    case "public": self.isPublic = true
    case "must-revalidate": self.mustRevalidate = true
    case "proxy-revalidate": self.proxyMustRevalidate = true
    default: break
    }
  }

  private static func seconds(_ argument: [UInt8]?) -> Seconds {
    DeltaSeconds.read(argument ?? []).map { .number($0) } ?? .invalid
  }
}

extension CacheControl.Seconds {
  /// The number; nil if it is invalid.
  var number: Int? { if case .number(let number) = self { number } else { nil } }
}

/// A number of seconds without a sign: [RFC 9111](https://www.rfc-editor.org/rfc/rfc9111#section-1.2.2).
enum DeltaSeconds {
  /// What a larger number counts as.
  static let maximum = 1 << 31

  /// Reads decimal digits, and nothing else. A number above `maximum` counts as that.
  static func read(_ bytes: some Sequence<UInt8>) -> Int? {
    var number: Int?
    for byte in bytes {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      number = min((number ?? 0) * 10 + Int(byte - UInt8(ascii: "0")), self.maximum)
    }
    return number
  }
}
