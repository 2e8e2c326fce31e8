internal import OperationCore
public import OperationFoundation

extension HTTPQuery where Value == Data {
  /// A query whose value is decoded from JSON.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - decoder: What decodes it.
  /// - Returns: The query. A body that cannot be decoded is an ``OperationHTTPContentError``, which is not retried.
  public func decode<Decoded: Decodable & Sendable>(
    _ type: Decoded.Type = Decoded.self,
    decoder: JSONDecoder = JSONDecoder()
  ) -> HTTPQuery<Decoded> {
    self.reading { response, _, _ in try await response.decoded(as: type, decoder: decoder) }
  }

  /// A query whose value is nil where the server has nothing at the address, with the status 404 or 410.
  ///
  /// - Parameters:
  ///   - type: The type of the value, without the optional.
  ///   - decoder: What decodes it.
  /// - Returns: The query.
  public func decodeIfFound<Decoded: Decodable & Sendable>(
    _ type: Decoded.Type = Decoded.self,
    decoder: JSONDecoder = JSONDecoder()
  ) -> HTTPQuery<Decoded?> {
    self.reading(
      absent: { nil },
      { response, _, _ in try await response.decoded(as: type, decoder: decoder) }
    )
  }

  /// A query whose value you make from the answer.
  ///
  /// - Parameter body: Reads the answer, whose status is one of success.
  /// - Returns: The query.
  public func decode<Decoded: Sendable>(
    _ body: @escaping @Sendable (OperationHTTPResponse) async throws -> Decoded
  ) -> HTTPQuery<Decoded> {
    self.reading { response, _, _ in try await body(response) }
  }

  /// A query that yields its value after each part of the body that arrives.
  ///
  /// ```swift
  /// HTTPQuery(url).streaming(into: 0) { count, bytes in count += bytes.count }
  /// ```
  ///
  /// - Parameters:
  ///   - initial: The value before the first part.
  ///   - update: Takes a part of the body. Where one ends has no meaning: see ``streamingLines(into:_:)`` for text.
  /// - Returns: The query, whose last value is the one after the last part.
  public func streaming<Streamed: Sendable>(
    into initial: Streamed,
    _ update: @escaping @Sendable (inout Streamed, Data) throws -> Void
  ) -> HTTPQuery<Streamed> {
    self.reading { response, _, continuation in
      var value = initial
      for try await part in response.body {
        try update(&value, part)
        continuation.yield(value)
      }
      return value
    }
  }

  /// A query that yields its value after each line of the body, such as a value of JSON or an event of a server.
  ///
  /// ```swift
  /// HTTPQuery(url).streamingLines(into: [Post]()) { posts, line in
  ///   posts.append(try JSONDecoder().decode(Post.self, from: Data(line.utf8)))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - initial: The value before the first line.
  ///   - update: Takes a line without its end, which is a line feed, with or without a carriage return before it.
  /// - Returns: The query, whose last value is the one after the last line.
  public func streamingLines<Streamed: Sendable>(
    into initial: Streamed,
    _ update: @escaping @Sendable (inout Streamed, String) throws -> Void
  ) -> HTTPQuery<Streamed> {
    self.reading { response, _, continuation in
      var value = initial
      var lines = LineReader()
      for try await part in response.body {
        for line in try lines.lines(with: part) {
          try update(&value, line)
          continuation.yield(value)
        }
      }
      if let line = lines.last() {
        try update(&value, line)
        continuation.yield(value)
      }
      return value
    }
  }

  private func reading<Read: Sendable>(
    absent: (@Sendable () -> Read)? = nil,
    _ reading: @escaping HTTPQuery<Read>.Reading
  ) -> HTTPQuery<Read> {
    HTTPQuery<Read>(
      self.request,
      self.path,
      named: self.operationName,
      isShared: self.isShared,
      absent: absent,
      reading: reading
    )
  }
}

/// Takes a text apart whose parts arrive one after another.
struct LineReader {
  private var rest = Data()

  /// The lines that a part of the text has completed.
  mutating func lines(with part: Data) throws -> [String] {
    var lines: [String] = []
    var start = part.startIndex
    while let end = part[start...].firstIndex(of: UInt8(ascii: "\n")) {
      self.rest.append(part[start..<end])
      lines.append(self.taken())
      start = part.index(after: end)
    }
    guard self.rest.count + (part.endIndex - start) <= OperationHTTPResponse.defaultLimit else {
      throw OperationHTTPContentError.tooLong(limit: OperationHTTPResponse.defaultLimit)
    }
    self.rest.append(part[start...])
    return lines
  }

  /// What is left at the end of the text; nil if it ends with a line.
  mutating func last() -> String? { self.rest.isEmpty ? nil : self.taken() }

  private mutating func taken() -> String {
    if self.rest.last == UInt8(ascii: "\r") { self.rest.removeLast() }
    defer { self.rest = Data() }
    return String(decoding: self.rest, as: UTF8.self)
  }
}
