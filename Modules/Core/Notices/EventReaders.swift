internal import Synchronization

/// Whether anybody in the process reads the events of a client, or has asked a store for an explanation.
///
/// While nobody does, each place that can report an event only reads a number.
enum EventReaders {
  private static let count = Atomic<Int>(0)

  static var exist: Bool { self.count.load(ordering: .relaxed) > 0 }

  static func add() { self.count.add(1, ordering: .relaxed) }

  static func remove() { self.count.subtract(1, ordering: .relaxed) }
}
