import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// What a client remembers of its invalidations.
@Suite(.bounded, .warningsAreIssues) struct InvalidationLogTests {
  private let client = OperationClient()
  private var log: InvalidationLog { self.client.invalidations }

  @Test func `An invalidation concerns what is at and below its path, and was not seen`() {
    let before = InvalidationEpoch.latest
    self.client.invalidate(matching: ["posts", 1])
    let after = InvalidationEpoch.latest
    #expect(before < after)
    #expect(self.log.concerns(path: ["posts", 1], since: before))
    #expect(self.log.concerns(path: ["posts", 1, "comments"], since: before))
    for path in [["posts"], ["posts", 2], ["other", 1], []] as [OperationPath] {
      #expect(!self.log.concerns(path: path, since: before))
    }
    #expect(!self.log.concerns(path: ["posts", 1], since: after))
    #expect(self.log.concerns(path: ["posts", 1], since: .zero))
  }

  @Test func `An invalidation of everything concerns each path and each tag`() {
    let before = InvalidationEpoch.latest
    self.client.invalidate(matching: ["posts"])
    self.client.invalidate()
    expect(self.log.entries.map(\.subject), equals: [.path([])])
    #expect(self.log.concerns(path: ["other"], since: before))
    #expect(self.log.concerns(tags: [["post", 1]], since: before))
    #expect(!self.log.concerns(tags: [], since: before))
    #expect(!self.log.concerns(path: ["other"], tags: [["post", 1]], since: .latest))
  }

  @Test func `A tag concerns equal tags, and a name all tags of the name`() {
    let before = InvalidationEpoch.latest
    self.client.noteInvalidation(of: [.tag(["post", 1])])
    #expect(self.log.concerns(tags: [["user", 1], ["post", 1]], since: before))
    #expect(!self.log.concerns(tags: [["post"], ["post", 2]], since: before))
    self.client.noteInvalidation(of: [.tags(named: "post")])
    #expect(self.log.concerns(tags: [["post", 2]], since: before))
    #expect(self.log.concerns(tags: [["post"]], since: before))
    #expect(!self.log.concerns(tags: [["posts"]], since: before))
  }

  @Test func `The last invalidation of a subject counts`() {
    self.client.invalidate(matching: ["posts"])
    let between = InvalidationEpoch.latest
    self.client.invalidate(matching: ["posts"])
    #expect(self.log.concerns(path: ["posts", 1], since: between))
    expect(self.log.entries.count, equals: 1)
  }

  @Test func `Of more than ten thousand subjects the older half counts as everything`() {
    let before = InvalidationEpoch.latest
    for number in 0..<6_000 { self.client.invalidate(matching: ["old", number]) }
    let between = InvalidationEpoch.latest
    for number in 0..<4_001 { self.client.invalidate(matching: ["new", number]) }
    #expect(self.log.entries.count <= 5_002)
    // Whatever is older than what was forgotten.
    #expect(self.log.concerns(path: ["other"], since: before))
    #expect(self.log.concerns(tags: [["tag"]], since: before))
    #expect(!self.log.concerns(path: ["other"], since: between))
    #expect(self.log.concerns(path: ["new", 4_000], since: between))
  }

  @Test func `Relays receive each invalidation once, with its source and before the stores are invalidated`() {
    let (relay, store) = (Relay(), self.client.store(for: NumberQuery(1)))
    store.currentValue = 1
    self.client.attach(relay)
    relay.onCall = { store.isInvalidated }
    self.client.invalidate(matching: ["a"])
    self.client.invalidate()
    self.client.noteInvalidation(of: [.path(["b"]), .tag(["c"])], from: relay)
    expect(relay.calls.all.map(\.subjects), equals: [[.path(["a"])], [.path([])], [.path(["b"]), .tag(["c"])]])
    expect(relay.calls.all.map(\.isOwn), equals: [false, false, true])
    expect(relay.calls.all.map(\.wasInvalidated), equals: [false, false, true])
    let epochs = relay.calls.all.map(\.epoch)
    #expect(epochs == epochs.sorted() && Set(epochs).count == 3)
  }

  @Test func `Elements that an entry replaces are released outside of the lock`() {
    // A deinitializer may use the client.
    for _ in 0..<2 {
      self.client.invalidate(matching: [Reentrant(client: self.client)])
      self.client.invalidate()
    }
    #expect(self.log.entries.count <= 2)
  }
}

private final class Relay: InvalidationRelay {
  struct Call: Sendable {
    let subjects: [InvalidationSubject]
    let epoch: InvalidationEpoch
    let isOwn: Bool
    let wasInvalidated: Bool
  }

  let calls = Log<Call>()
  private let probe = Locked<(@Sendable () -> Bool)?>(nil)

  var onCall: (@Sendable () -> Bool)? {
    get { self.probe.withLock { $0 } }
    set { self.probe.withLock { $0 = newValue } }
  }

  func willInvalidate(
    _ subjects: [InvalidationSubject],
    at epoch: InvalidationEpoch,
    from relay: (any InvalidationRelay)?
  ) {
    let wasInvalidated = self.onCall?() ?? false
    self.calls.append(Call(subjects: subjects, epoch: epoch, isOwn: relay === self, wasInvalidated: wasInvalidated))
  }
}

/// Invalidates something when the last reference goes.
private final class Reentrant: Hashable, Sendable {
  let client: OperationClient

  init(client: OperationClient) {
    self.client = client
  }

  static func == (lhs: Reentrant, rhs: Reentrant) -> Bool { lhs === rhs }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  deinit {
    self.client.invalidate(matching: ["released"])
  }
}
