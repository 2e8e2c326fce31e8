/// The urgency of a request in the header field `Priority` of [RFC 9218](https://www.rfc-editor.org/rfc/rfc9218).
///
/// It is a number from 0, the most urgent, to 7; 3 is the default.
struct CallUrgency: Hashable {
  static let fieldName = "Priority"
  static let usual = CallUrgency(number: 3)

  let number: Int

  /// The urgency of a task's priority.
  init(_ priority: TaskPriority) {
    self.number = priority >= .high ? 1 : priority >= .medium ? 3 : priority >= .low ? 5 : 7
  }

  private init(number: Int) {
    self.number = number
  }

  /// Reads the parameter `u` of a value such as `u=5, i`; nil if it has none.
  ///
  /// Of several the last one counts, as [RFC 9651](https://www.rfc-editor.org/rfc/rfc9651#section-4.2.2) says.
  init?(_ text: String) {
    // What follows a semicolon are parameters of an item, of which none is defined.
    let items = text.split(separator: ",").map { $0.trimmed.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1) }
    guard let item = items.last(where: { $0.first == "u" }), item.count == 2,
      let number = item[1].digits(atMost: 1), number <= 7
    else { return nil }
    self.number = Int(number)
  }

  /// The value of the field.
  var text: String { "u=\(self.number)" }

  /// The priority of the tasks that serve the request.
  var priority: TaskPriority {
    switch self.number {
    case ...2: .high
    case 3: .medium
    case 4...5: .low
    default: .background
    }
  }
}
