#if SwiftOperationDevtools
  internal import OperationCore
  internal import OperationEvents
  internal import OperationFoundation

  /// Writes events in the compact form of recordings, in some sixty bytes each.
  ///
  /// An event is a list of numbers. Texts are in a table, which grows with the messages; numbers in a text are written apart, so that
  /// "succeeded after 3 ms" and "succeeded after 5 ms" have one entry. The page reads it in `Page/Source/13-recording.js`.
  struct EventPacker: Sendable {
    /// Beyond this number of texts a new table begins.
    private static let maximumTexts = 50_000
    /// Stands for a number in a text.
    private static let placeholder: Character = "\u{1}"

    private var places: [String: Int] = [:]
    /// The texts that the message adds to the table.
    private var new: [String] = []

    init() {}

    /// Writes the members of a message with events.
    ///
    /// - Parameters:
    ///   - events: The events, of which there is at least one.
    ///   - json: The message.
    ///   - id: Returns the number of the store at a path.
    mutating func write(_ events: some Collection<OperationEvent>, to json: inout JSONText, id: (OperationPath) -> Int)
    {
      guard let first = events.first else { return }
      let base = (number: Int(clamping: first.number), time: Self.microseconds(of: first.date))
      let isCleared = self.places.count > Self.maximumTexts
      if isCleared { self.places = [:] }
      var last = base
      var entries: [String] = []
      for event in events {
        let (number, time) = (Int(clamping: event.number), Self.microseconds(of: event.date))
        entries.append(self.entry(event, [number - last.number, time - last.time, id(event.path)]))
        last = (number, time)
      }
      defer { self.new = [] }
      json.flag("clear", isCleared)
      if !self.new.isEmpty {
        json.key("strings")
        json.value(self.new)
      }
      json.key("base")
      json.array { json in
        json.value(base.number)
        json.value(base.time)
      }
      json.key("log")
      json.array { json in
        for entry in entries { json.raw(entry) }
      }
    }

    private static func microseconds(of date: Date) -> Int { Int((date.timeIntervalSince1970 * 1e6).rounded()) }

    private mutating func entry(_ event: OperationEvent, _ start: [Int]) -> String {
      var numbers = start
      numbers.append(self.place(of: JSONText.array { $0.values(event.path.shownElements) }))
      numbers.append(self.place(of: event.operationName))
      numbers.append(self.place(of: event.what.name))
      let cause = event.cause.map { cause in
        self.place(of: JSONText.array { $0.values([cause.kind.description, cause.description]) }) + 1
      }
      numbers.append(cause ?? 0)
      numbers.append(event.run.flatMap { Int("\($0)".dropFirst()) } ?? 0)
      var parts = numbers.map(String.init)
      self.add(event.sentence, to: &parts)
      let more = JSONText.object { $0.shownDetails(of: event.what) }
      self.add(String(more.dropFirst().dropLast()), to: &parts)
      return "[\(parts.joined(separator: ","))]"
    }

    /// Adds the place of the text without its numbers, and the numbers.
    private mutating func add(_ text: String, to parts: inout [String]) {
      var template = ""
      var numbers: [Substring] = []
      // A text that has the placeholder itself loses it.
      var rest = text.contains(Self.placeholder) ? "" : text[...]
      while let start = rest.firstIndex(where: { $0.isASCII && $0.isNumber }) {
        template += rest[..<start]
        let number = rest[start...].prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        rest = rest[number.endIndex...]
        if Self.isSame(inJavaScript: number) {
          template.append(Self.placeholder)
          numbers.append(number)
        } else {
          template += number
        }
      }
      template += text.contains(Self.placeholder) ? text.filter { $0 != Self.placeholder }[...] : rest
      parts.append("\(self.place(of: template))")
      parts += numbers.map(String.init)
    }

    /// Whether a number is written by JavaScript as it is here.
    private static func isSame(inJavaScript number: Substring) -> Bool {
      let parts = number.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count <= 2, number.count <= 15, let whole = parts.first, !whole.isEmpty else { return false }
      if whole.count > 1, whole.first == "0" { return false }
      guard parts.count == 2 else { return true }
      return !parts[1].isEmpty && parts[1].last != "0" && !(whole == "0" && parts[1].hasPrefix("00000"))
    }

    /// The place of a text in the table.
    private mutating func place(of text: String) -> Int {
      if let place = self.places[text] { return place }
      let place = self.places.count
      self.places[text] = place
      self.new.append(text)
      return place
    }
  }

  extension JSONText {
    /// Writes the elements of an array.
    fileprivate mutating func values(_ texts: [String]) {
      for text in texts { self.value(text) }
    }

    /// A text with one array.
    fileprivate static func array(_ elements: (inout JSONText) -> Void) -> String {
      var json = JSONText()
      json.array(elements)
      return json.text
    }

    /// Writes the members of an event that a page shows of a recording.
    fileprivate mutating func shownDetails(of what: OperationEvent.What) {
      switch what {
      case .attemptFailed(let failure): self.member("delay", failure.next.map { Self.rounded($0) })
      case .paused(let reason), .resumed(let reason, _, _), .waits(let reason), .waited(let reason, _):
        self.member("reason", reason)
        if case .resumed(_, _, let outcome) = what { self.member("outcome", outcome) }
      case .runEnded(let end): self.member("outcome", end.outcome.rawValue)
      case .yielded(let failure): self.member("outcome", failure == nil ? "success" : "failure")
      case .invalidated(let cause): self.member("by", cause.invalidatingOperation)
      case .notice(let notice):
        if case .string(let node)? = notice.attributes["fleet.node"] { self.member("node", node) }
        if case .string(let source)? = notice.attributes["fleet.source"] { self.member("source", source) }
      default: break
      }
    }

    /// Seconds, to a microsecond.
    private static func rounded(_ duration: Duration) -> Double { (duration / .microseconds(1)).rounded() / 1e6 }
  }
#endif
