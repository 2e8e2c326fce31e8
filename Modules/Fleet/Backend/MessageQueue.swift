/// The messages that wait while a handler is called: a bounded number, as `missed` stands for the others.
package struct MessageQueue: Sendable {
  private static let limit = 1_000

  private var messages: [FleetMessage] = []
  private var isDelivering = false

  package init() {}

  /// Adds messages. Returns whether the caller has to deliver them.
  package mutating func add(_ messages: [FleetMessage]) -> Bool {
    self.messages += messages
    if self.messages.count > Self.limit { self.messages = [.missed] }
    defer { self.isDelivering = true }
    return !self.isDelivering
  }

  /// The next message; nil at the end of the delivery.
  package mutating func next() -> FleetMessage? {
    if self.messages.isEmpty {
      self.isDelivering = false
      return nil
    }
    return self.messages.removeFirst()
  }
}
