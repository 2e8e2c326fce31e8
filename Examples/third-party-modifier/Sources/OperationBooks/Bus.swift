internal import Foundation
public import OperationCore
internal import Synchronization

/// Passes invalidations on among the clients that are attached to it, as an integration with a message broker does.
///
/// The clients stand for processes. A message is a path, which each of them invalidates.
public final class Bus: Sendable {
  private struct Member: Sendable {
    weak let client: OperationClient?
    let relay: Relay
  }

  private let members = Mutex<[Member]>([])

  public init() {}

  /// Attaches a client, whose invalidations reach the others from then on.
  public func attach(_ client: OperationClient) {
    let relay = Relay(bus: self)
    client.attach(relay)
    self.members.withLock { $0.append(Member(client: client, relay: relay)) }
  }

  fileprivate func send(_ path: OperationPath, from sender: Relay) {
    let others = self.members.withLock { members in
      members.removeAll { $0.client == nil }
      return members.filter { $0.relay !== sender }
    }
    for other in others {
      guard let client = other.client else { continue }
      other.relay.receive { client.invalidate(matching: path) }
    }
  }
}

/// Hears what one client invalidates, and passes it on unless it came from the bus.
private final class Relay: InvalidationRelay {
  private weak let bus: Bus?
  /// Whether this task invalidates on behalf of another client.
  @TaskLocal private static var isReceiving = false

  init(bus: Bus) {
    self.bus = bus
  }

  func willInvalidate(
    _ subjects: [InvalidationSubject],
    at epoch: InvalidationEpoch,
    from relay: (any InvalidationRelay)?
  ) {
    if Self.isReceiving { return }
    for case .path(let path) in subjects { self.bus?.send(path, from: self) }
  }

  func receive(_ invalidate: () -> Void) {
    Self.$isReceiving.withValue(true) { invalidate() }
  }
}
