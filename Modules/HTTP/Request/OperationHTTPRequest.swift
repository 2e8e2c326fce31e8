public import OperationFoundation

/// A request to an HTTP server, as a value.
///
/// ```swift
/// var request = OperationHTTPRequest(url, method: "POST", fields: ["Content-Type": "application/json"])
/// request.body = try JSONEncoder().encode(draft)
/// let post = try await context.send(request).decoded(as: Post.self)
/// ```
public struct OperationHTTPRequest: Hashable, Sendable {
  /// The address.
  public var url: URL

  /// The method, such as `GET`.
  public var method: String

  /// The header fields.
  public var fields: OperationHTTPFields

  /// The body; nil for none.
  public var body: Data?

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - url: The address.
  ///   - method: The method.
  ///   - fields: The header fields.
  ///   - body: The body; nil for none.
  public init(_ url: URL, method: String = "GET", fields: OperationHTTPFields = [:], body: Data? = nil) {
    self.url = url
    self.method = method
    self.fields = fields
    self.body = body
  }

  /// Creates a request whose body is a value in JSON.
  ///
  /// - Parameters:
  ///   - url: The address.
  ///   - method: The method.
  ///   - fields: The header fields. `Content-Type` is added where it is missing.
  ///   - value: The value.
  ///   - encoder: What encodes it.
  /// - Throws: The error of the encoder.
  public init(
    _ url: URL,
    method: String = "POST",
    fields: OperationHTTPFields = [:],
    json value: some Encodable,
    encoder: JSONEncoder = JSONEncoder()
  ) throws {
    self.init(url, method: method, fields: fields, body: try encoder.encode(value))
    if self.fields["Content-Type"] == nil { self.fields["Content-Type"] = "application/json" }
  }
}

extension OperationHTTPRequest: CustomStringConvertible {
  /// The method and the address without its query, which can have secrets.
  public var description: String {
    var components = URLComponents(url: self.url, resolvingAgainstBaseURL: true)
    components?.query = nil
    components?.fragment = nil
    components?.user = nil
    components?.password = nil
    return "\(self.method) \(components?.string ?? self.url.host() ?? "?")"
  }
}
