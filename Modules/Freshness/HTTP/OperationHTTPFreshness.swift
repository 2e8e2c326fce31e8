internal import OperationCore
internal import OperationFoundation

/// How long a response is fresh by its header fields.
///
/// ```swift
/// context.freshness = OperationHTTPFreshness(headerFields: response.headerFields)
/// ```
///
/// It reads `Cache-Control`, `Age`, `Date`, `Expires`, `Vary`, `ETag` and `Last-Modified` as
/// [RFC 9111](https://www.rfc-editor.org/rfc/rfc9111) and [RFC 5861](https://www.rfc-editor.org/rfc/rfc5861) say. What
/// is invalid makes a response stale where the field is about freshness, and is ignored elsewhere. Nothing is guessed:
/// without `max-age` and `Expires` the lifetime is unknown.
public struct OperationHTTPFreshness: Hashable, Sendable {
  /// The value of an `Expires` field.
  enum Expiry: Hashable, Sendable {
    case date(Date)
    /// Not a date, such as `0`: the response has expired.
    case past
  }

  /// Whether the cache is shared by several users, so that `private`, `s-maxage` and `proxy-revalidate` apply.
  var isShared: Bool
  var cacheControl: CacheControl?
  var expiry: Expiry?
  var date: Date?
  var ageField: Int?
  /// Whether the response depends on more than the request: `Vary: *`.
  var variesWithAll = false
  /// Whether a response without a date has confirmed the fields.
  var confirmedWithoutDate = false

  /// Whether the request had `Authorization`. Its answer is then shared only where the server permits it: by `public`,
  /// `s-maxage` or `must-revalidate`.
  public var isAuthorized = false

  /// What a request sends to ask whether the response is still valid; nil without `ETag` and `Last-Modified`.
  public internal(set) var validators: OperationHTTPValidators?

  /// Reads the header fields of a response.
  ///
  /// - Parameters:
  ///   - headerFields: The names and values of the fields, in their order. Names are compared without regard to case.
  ///     Values of `Cache-Control` are combined; of other fields the first counts. Unknown ones are ignored.
  ///   - isShared: Whether several users share the values, as in a service: then `s-maxage` and `proxy-revalidate`
  ///     apply, and a `private` response is neither fresh nor stored. See ``isAuthorized``, too.
  /// - Complexity: O(*n*) in the length of the fields.
  public init(headerFields: some Sequence<(String, String)>, isShared: Bool = false) {
    self.init(headerFields: headerFields, isShared: isShared, now: Date().timeIntervalSince1970)
  }

  /// Reads the header fields of a response.
  ///
  /// - Parameters:
  ///   - headerFields: The fields in their order, with the labels that many HTTP libraries give them.
  ///   - isShared: Whether several users share the values: then `private`, `s-maxage` and `proxy-revalidate` apply.
  /// - Complexity: O(*n*) in the length of the fields.
  public init(headerFields: some Sequence<(name: String, value: String)>, isShared: Bool = false) {
    self.init(headerFields: headerFields.lazy.map { ($0.name, $0.value) }, isShared: isShared)
  }

  /// Reads the header fields of a response.
  ///
  /// - Parameters:
  ///   - headerFields: The values of the fields by their names, which are compared without regard to case. Of names
  ///     that differ in their case only, the first in the order of the alphabet counts.
  ///   - isShared: Whether several users share the values: then `private`, `s-maxage` and `proxy-revalidate` apply.
  /// - Complexity: O(*n* log *n*) in the length of the fields.
  public init(headerFields: [String: String], isShared: Bool = false) {
    self.init(headerFields: headerFields.sorted { $0.key < $1.key }.lazy.map { ($0.key, $0.value) }, isShared: isShared)
  }

  /// Creates the freshness of a value that is fresh for some time, and can be served for some time after it.
  ///
  /// - Parameters:
  ///   - lifetime: How long the value is fresh, in whole seconds. A negative duration counts as zero.
  ///   - staleWhileRevalidate: How long after it the value is read while a run refreshes it, in whole seconds; nil for
  ///     not at all.
  ///   - staleIfError: How long after it the value is read if a run fails, in whole seconds; nil for not at all.
  ///   - validators: What a request sends to ask whether the value is still valid; nil for nothing.
  public init(
    lifetime: Duration,
    staleWhileRevalidate: Duration? = nil,
    staleIfError: Duration? = nil,
    validators: OperationHTTPValidators? = nil
  ) {
    self.init(headerFields: [], isShared: false, now: 0)
    var cacheControl = CacheControl([])
    cacheControl.maximumAge = .number(lifetime.deltaSeconds)
    cacheControl.staleWhileRevalidate = staleWhileRevalidate.map { .number($0.deltaSeconds) }
    cacheControl.staleIfError = staleIfError.map { .number($0.deltaSeconds) }
    self.cacheControl = cacheControl
    self.validators = validators
  }

  /// Reads the fields.
  ///
  /// - Parameters:
  ///   - headerFields: The fields.
  ///   - isShared: Whether several users share the values.
  ///   - now: The current date in seconds since 1970, to which years of two digits are relative.
  init(headerFields: some Sequence<(String, String)>, isShared: Bool, now: Double) {
    self.isShared = isShared
    var (directives, entityTag, lastModified) = ([String](), String?.none, String?.none)
    for (name, value) in headerFields {
      let value = value.trimmedOfSpaces
      switch name.trimmedOfSpaces.lowercasedASCII {
      case "cache-control": directives.append(value)
      case "expires":
        self.expiry = self.expiry ?? Self.date(value, now).map { .date($0) } ?? .past
      case "date": self.date = self.date ?? Self.date(value, now)
      case "age":
        // Of a list the first number counts.
        self.ageField = self.ageField ?? DeltaSeconds.read(Self.firstElement(of: value))
      case "vary":
        if QuotedList.elements(of: Array(value.utf8)).contains([UInt8(ascii: "*")]) { self.variesWithAll = true }
      case "etag": entityTag = entityTag ?? OperationHTTPValidators.entityTag(value)
      case "last-modified": lastModified = lastModified ?? (Self.date(value, now) == nil ? nil : value)
      default: continue
      }
    }
    if !directives.isEmpty { self.cacheControl = CacheControl(directives) }
    self.validators = OperationHTTPValidators(entityTag: entityTag, lastModified: lastModified)
  }

  private static func date(_ text: String, _ now: Double) -> Date? {
    HTTPDate(text, now: now).map { Date(timeIntervalSince1970: $0.secondsSince1970) }
  }

  private static func firstElement(of value: String) -> ArraySlice<UInt8> {
    QuotedList.elements(of: Array(value.utf8)).first ?? []
  }
}

extension OperationHTTPFreshness {
  /// The freshness after a response that has confirmed this one, such as one with the status 304.
  ///
  /// Fields that the response has replace those that it has confirmed:
  /// [RFC 9111](https://www.rfc-editor.org/rfc/rfc9111#section-3.2).
  func confirmed(by newer: OperationHTTPFreshness?) -> OperationHTTPFreshness {
    var result = self
    result.cacheControl = newer?.cacheControl ?? self.cacheControl
    result.expiry = newer?.expiry ?? self.expiry
    // An expiry is relative to its own date.
    result.date = newer?.date ?? (newer?.expiry == nil ? self.date : nil)
    result.ageField = newer?.ageField
    result.validators = newer?.validators ?? self.validators
    result.isShared = newer?.isShared ?? self.isShared
    result.isAuthorized = newer?.isAuthorized ?? self.isAuthorized
    result.variesWithAll = newer?.variesWithAll ?? self.variesWithAll
    result.confirmedWithoutDate = newer?.date == nil
    return result
  }
}

extension Duration {
  /// The whole seconds of the duration, from zero to the largest number of a field.
  var deltaSeconds: Int { Int(min(max(self.seconds, 0), Double(DeltaSeconds.maximum))) }
}
