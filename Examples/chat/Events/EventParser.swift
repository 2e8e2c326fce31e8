import Foundation

/// An event that a server has sent.
struct ServerSentEvent: Hashable, Sendable {
  /// The last identifier that the server has sent, with this event or before it; nil if there was none.
  var id: String?
  var name: String
  var data: String
}

/// Takes the text of server-sent events apart, by the rules of the HTML standard:
/// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
struct EventParser {
  struct TooLong: Error {}

  private static let limit = 1 << 20

  private var line: [UInt8] = []
  /// Whether the last byte was a carriage return, after which a line feed ends no other line.
  private var isAfterReturn = false
  private var data: [String] = []
  private var size = 0
  private var name = ""
  private var id: String?
  private var events: [ServerSentEvent] = []

  /// Takes a part of the text. Where it ends has no meaning.
  mutating func append(_ part: Data) throws {
    for byte in part {
      switch byte {
      case UInt8(ascii: "\n") where self.isAfterReturn: break
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"): self.endLine()
      default:
        self.size += 1
        guard self.size <= Self.limit else { throw TooLong() }
        self.line.append(byte)
      }
      self.isAfterReturn = byte == UInt8(ascii: "\r")
    }
  }

  /// The next event that is complete; nil if there is none yet.
  mutating func next() -> ServerSentEvent? {
    self.events.isEmpty ? nil : self.events.removeFirst()
  }

  private mutating func endLine() {
    let line = String(decoding: self.line, as: UTF8.self)
    self.line = []
    if line.isEmpty { return self.endEvent() }
    let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    var value = parts.count == 2 ? parts[1] : ""
    if value.hasPrefix(" ") { value.removeFirst() }
    switch parts[0] {
    case "data": self.data.append(String(value))
    case "event": self.name = String(value)
    case "id" where !value.contains("\0"): self.id = String(value)
    // A line that begins with a colon is a comment, which keeps the connection open.
    default: break
    }
  }

  private mutating func endEvent() {
    if !self.data.isEmpty {
      let event = ServerSentEvent(
        id: self.id,
        name: self.name.isEmpty ? "message" : self.name,
        data: self.data.joined(separator: "\n")
      )
      self.events.append(event)
    }
    (self.data, self.name, self.size) = ([], "", 0)
  }
}
