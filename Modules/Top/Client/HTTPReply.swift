/// The reply of a server, read as it arrives: the head, and then the body, whole or in chunks.
package struct HTTPReply: Sendable {
  /// The status; nil until the head is complete.
  package private(set) var status: Int?
  /// The fields of the head, by their names in lower case.
  package private(set) var fields: [String: String] = [:]
  /// Whether the body is complete.
  package private(set) var isComplete = false
  /// What has arrived and is not understood yet.
  private var rest: [UInt8] = []
  /// The body that has not been taken yet.
  private var body: [UInt8] = []
  /// The bytes of the body, or of the chunk, that are missing; nil for a body that ends with the connection.
  private var missing: Int?

  package init() {}

  private var isChunked: Bool { self.fields["transfer-encoding"]?.lowercased() == "chunked" }

  /// Adds bytes that have arrived. Empty ones are the end of the connection.
  package mutating func add(_ bytes: [UInt8]) {
    if bytes.isEmpty { self.isComplete = true }
    self.rest += bytes
    if self.status == nil { self.readHead() }
    guard self.status != nil else { return }
    if self.isChunked { self.readChunks() } else { self.readBody() }
  }

  /// Removes and returns the part of the body that has arrived.
  package mutating func takeBody() -> [UInt8] {
    defer { self.body = [] }
    return self.body
  }

  private mutating func readHead() {
    guard let end = self.rest.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
    let lines = String(decoding: self.rest[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    self.rest.removeSubrange(..<end.upperBound)
    self.status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      self.fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
    }
    self.missing = self.fields["content-length"].flatMap { Int($0) }
  }

  private mutating func readBody() {
    guard let missing = self.missing else {
      self.body += self.rest
      self.rest = []
      return
    }
    let piece = self.rest.prefix(missing)
    self.body += piece
    self.missing = missing - piece.count
    self.rest.removeFirst(piece.count)
    if self.missing == 0 { self.isComplete = true }
  }

  private mutating func readChunks() {
    while !self.rest.isEmpty {
      guard let missing = self.missing else {
        guard let end = self.rest.firstRange(of: Array("\r\n".utf8)) else { return }
        let size = Int(String(decoding: self.rest[..<end.lowerBound], as: UTF8.self), radix: 16) ?? 0
        self.rest.removeSubrange(..<end.upperBound)
        if size == 0 {
          self.isComplete = true
          return
        }
        // With the end of the line behind the chunk.
        self.missing = size + 2
        continue
      }
      guard self.rest.count >= missing else { return }
      self.body += self.rest.prefix(missing - 2)
      self.rest.removeFirst(missing)
      self.missing = nil
    }
  }
}
