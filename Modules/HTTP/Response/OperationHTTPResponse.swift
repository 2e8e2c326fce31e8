public import OperationFoundation

/// The answer of an HTTP server, whose body may still arrive.
public struct OperationHTTPResponse: Sendable {
  /// The status, such as 200.
  public var status: Int

  /// The header fields.
  public var fields: OperationHTTPFields

  /// The body, as it arrives.
  public var body: OperationHTTPBody

  /// Creates a response with a body that arrives.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - fields: The header fields.
  ///   - body: The body.
  public init(status: Int, fields: OperationHTTPFields = [:], body: OperationHTTPBody) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// Creates a response with a body that is there.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - fields: The header fields.
  ///   - body: The body.
  public init(status: Int, fields: OperationHTTPFields = [:], body: Data = Data()) {
    self.init(status: status, fields: fields, body: OperationHTTPBody(body))
  }

  /// The response itself, if its status is one of success: 200 to 299.
  ///
  /// - Parameter now: The current date, for a `Retry-After` with a date.
  /// - Returns: The response.
  /// - Throws: An ``OperationHTTPStatusError`` for another status, with the first bytes of the body.
  public func successful(now: Date = Date()) async throws -> OperationHTTPResponse {
    if (200..<300).contains(self.status) { return self }
    throw await self.statusError(now: now)
  }

  func statusError(now: Date) async -> OperationHTTPStatusError {
    var body = Data()
    do {
      for try await chunk in self.body {
        body.append(chunk.prefix(Self.errorLimit - body.count))
        if body.count >= Self.errorLimit { break }
      }
    } catch {
      // The status is known, and says more than the end of the connection.
    }
    return OperationHTTPStatusError(status: self.status, fields: self.fields, body: body, now: now)
  }

  private static let errorLimit = 64 << 10

  /// Reads the body to its end.
  ///
  /// - Parameter limit: The largest number of bytes.
  /// - Returns: The bytes.
  /// - Throws: An ``OperationHTTPContentError`` if the body is longer, and what ends the body before its end.
  public func data(upTo limit: Int = OperationHTTPResponse.defaultLimit) async throws -> Data {
    try await self.body.collected(upTo: limit)
  }

  /// Reads the body to its end, and decodes it.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - limit: The largest number of bytes.
  ///   - decoder: What decodes JSON.
  /// - Returns: The value.
  /// - Throws: An ``OperationHTTPContentError`` if the body is longer or cannot be decoded, and what ends the body before
  ///   its end.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self,
    upTo limit: Int = OperationHTTPResponse.defaultLimit,
    decoder: JSONDecoder = JSONDecoder()
  ) async throws -> Value {
    let data = try await self.data(upTo: limit)
    do {
      return try decoder.decode(type, from: data)
    } catch {
      throw OperationHTTPContentError.undecodable(error)
    }
  }

  /// The largest number of bytes that are read of a body where nothing else is said: 16 MB.
  public static let defaultLimit = 16 << 20
}
