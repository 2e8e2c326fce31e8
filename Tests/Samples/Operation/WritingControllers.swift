import Operation

let updates = AsyncStream<Post> { nil }

struct Connection: Sendable {
  struct Messages: Sendable {
    func receive(_ isOn: Bool) {}
  }

  func onMessage(_ body: @escaping @Sendable () -> Void) -> Messages { Messages() }
}
