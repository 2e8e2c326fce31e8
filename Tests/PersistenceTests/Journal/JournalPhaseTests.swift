import TestFixtures
import Testing

@testable import OperationPersistence

@Suite(.bounded) struct JournalPhaseTests {
  private static let removing = JournalPhase.removing(JournalPhase.Removal(isOfRefused: false))
  private static let refused = JournalPhase.removing(JournalPhase.Removal(isOfRefused: true))
  private static let all: [JournalPhase] = [
    .reserved(), .reserved(.init(isRefused: true)), .arrived(.init()), .arrived(.init(isRefused: true)), .accepted,
    removing, refused, .ended(nil), .ended(.succeeded(nil)), .takenOver,
  ]

  private func phases(_ change: (inout JournalPhase) -> Void) -> [String] {
    Self.all.map { phase in
      var phase = phase
      change(&phase)
      return switch phase {
      case .reserved(let acceptance): acceptance.isRefused ? "reserved, refused" : "reserved"
      case .arrived(let acceptance): acceptance.isRefused ? "arrived, refused" : "arrived"
      case .accepted: "accepted"
      case .removing(let removal): removal.isOfRefused ? "removing, refused" : "removing"
      case .ended(let ending): ending == nil ? "ended" : "ended, shown"
      case .takenOver: "taken over"
      }
    }
  }

  private let before = [
    "reserved", "reserved, refused", "arrived", "arrived, refused", "accepted", "removing", "removing, refused",
    "ended",
    "ended, shown", "taken over",
  ]

  @Test func `A transition changes the phases that it is for, and no others`() {
    expect(self.phases { _ in }, equals: self.before)
    expect(
      self.phases { $0.arrive() },
      equals: [
        "arrived", "arrived, refused", "arrived", "arrived, refused", "accepted", "removing", "removing, refused",
        "ended",
        "ended, shown", "taken over",
      ]
    )
    expect(
      self.phases { _ = $0.refuse() },
      equals: [
        "reserved, refused", "reserved, refused", "arrived, refused", "arrived, refused", "accepted", "removing",
        "removing, refused", "ended", "ended, shown", "taken over",
      ]
    )
    expect(
      self.phases { _ = $0.endFailedRemoval() },
      equals: [
        "reserved", "reserved, refused", "arrived", "arrived, refused", "accepted", "accepted", "accepted", "ended",
        "ended, shown", "taken over",
      ]
    )
    // What the user has removed is not shown as ended.
    expect(
      self.phases { $0.end(with: .succeeded(nil)) },
      equals: [
        "ended, shown", "ended, shown", "ended, shown", "ended, shown", "ended, shown", "ended", "ended",
        "ended, shown",
        "ended, shown", "ended, shown",
      ]
    )
  }

  @Test func `A phase is stored, and goes away, once its entry is`() {
    expect(Self.all.map(\.isStored), equals: [false, false, false, false, true, true, true, true, true, true])
    expect(Self.all.map(\.isGone), equals: [false, false, false, false, false, true, true, true, true, false])
    expect(Self.all.map { $0.acceptance != nil }, equals: Self.all.map { !$0.isStored })
    expect(Self.all.map(\.isRefused), equals: [false, true, false, true, false, false, true, false, false, false])
  }

  @Test func `What a call has until it is accepted goes with its phase, and comes to no later one`() {
    var phase = JournalPhase.reserved()
    phase.acceptance?.replaced = 7
    phase.arrive()
    _ = phase.refuse()
    #expect(phase.acceptance?.replaced == 7 && phase.isRefused)
    phase = .accepted
    phase.acceptance?.replaced = 8
    phase.acceptance = JournalPhase.Acceptance(isRefused: true)
    #expect(phase.acceptance == nil && !phase.isRefused)
  }

  @Test func `Another call comes in place of one that waits, and of one whose run can end without a body`() {
    func run(_ canEndWithoutBody: Bool) -> JournalState.Run {
      JournalState.Run(isReplay: false, canEndWithoutBody: canEndWithoutBody)
    }
    let activities: [JournalState.Activity] = [
      .none, .claimed(run(true)), .claimed(run(false), endedEarly: .expired), .running(run(true)), .running(run(false)),
    ]
    expect(activities.map(\.canBeReplaced), equals: [true, true, false, true, false])
    expect(activities.map(\.isCallerInLine), equals: [false, true, true, false, false])
  }

  @Test func `A body that was counted in advance is not counted again, and the last one that ends is known`() {
    var bodies = JournalPhase.Bodies.counted
    let isRunning = bodies.isRunning
    let counts = [bodies.begin(), bodies.begin()]
    let isTakenBack = bodies.takeBack()
    let ends = [bodies.end(), bodies.end(), bodies.end()]
    #expect(!isRunning && !isTakenBack)
    expect(counts, equals: [false, true])
    expect(ends, equals: [false, true, false])
    bodies = .counted
    let areTakenBack = [bodies.takeBack(), bodies.takeBack()]
    expect(areTakenBack, equals: [true, false])
    #expect(!bodies.isRunning)
  }

  @Test func `A replay that was cancelled before it had a task cancels it, and stays cancelled until the next one`() {
    let task = Task {}
    var replay = JournalPhase.Replay.none
    let isCancelled = replay.begin(task)
    #expect(!isCancelled && replay.task == task)
    replay.end()
    let none = replay.cancel()
    let isCancelledAfterwards = replay.begin(task)
    replay.end()
    #expect(none == nil && isCancelledAfterwards && replay.isCancelled)
    replay = .none
    let isCancelledAgain = replay.begin(task)
    let cancelled = [replay.cancel(), replay.cancel()]
    #expect(!isCancelledAgain && cancelled == [task, nil])
  }

  @Test func `Only a call that another process has stored since, and makes, does not count in its scope`() {
    let all: [JournalPhase.Origin] = [
      .thisProcess, .earlierStart(.thisProcess), .earlierStart(.otherProcess), .otherProcess(.thisProcess),
      .otherProcess(.otherProcess),
    ]
    func facts(madeBy maker: JournalPhase.Maker?) -> [[Bool]] {
      all.map { origin in
        var origin = origin
        if let maker { origin.setMaker(maker) }
        return [origin.isElsewhere, origin.countsInScope]
      }
    }
    expect(facts(madeBy: nil), equals: [[false, true], [false, true], [true, true], [false, true], [true, false]])
    expect(
      facts(madeBy: .otherProcess),
      equals: [[true, false], [true, true], [true, true], [true, false], [true, false]]
    )
    expect(facts(madeBy: .thisProcess), equals: Array(repeating: [false, true], count: 5))
    expect(JournalPhase.Maker.owner("a", of: ["a"]), equals: .otherProcess)
    expect(JournalPhase.Maker.owner("b", of: ["a"]), equals: .thisProcess)
    expect(JournalPhase.Maker.owner(nil, of: ["a"]), equals: .thisProcess)
  }

  @Test func `Changes are queued once, and those of a batch end with it`() {
    var changes = EntryChanges()
    #expect(changes.areStored && !changes.areQueued && changes.areOfAttempts)
    let first = [changes.add(isOfAttempts: false), changes.add(isOfAttempts: true)]
    expect(first.map(\.isQueuedAnew), equals: [true, false])
    #expect(changes.count == 2 && !changes.areOfAttempts)
    let begins = [changes.begin(), changes.begin()]
    #expect(begins == [true, true] && !changes.areQueued && !changes.areStored)
    // Made while the batch is being stored.
    let later = changes.add(isOfAttempts: true)
    #expect(later.isQueuedAnew && changes.all.map(\.version) == [1, 2, 3])
    let ended = changes.end(upTo: 2)
    changes.noteStored(2)
    #expect(ended.map(\.version) == [1, 2] && changes.areQueued && changes.areOfAttempts)
    let rest = (changes.begin(), changes.end(upTo: 3).map(\.version))
    #expect(rest.0 && rest.1 == [3] && changes.areStored)
  }

  @Test func `Changes that are refused end, and an entry in the queue has none then`() {
    var changes = EntryChanges()
    _ = changes.add(isOfAttempts: false)
    let refused = changes.refuse().map(\.version)
    #expect(refused == [1] && changes.areQueued && changes.all.isEmpty && !changes.areStored)
    let (begins, isQueuedAnew) = (changes.begin(), changes.add(isOfAttempts: false).isQueuedAnew)
    #expect(!begins && isQueuedAnew)
    // Those of a batch that is being stored.
    _ = changes.begin()
    let refusedLater = changes.refuse().map(\.version)
    #expect(refusedLater == [2] && changes.areStored)
    changes.noteOther()
    #expect(changes.areOfAttempts)
  }

  @Test func `A queue knows the last call in front of another one that has no number yet`() {
    var queue = ScopeQueue()
    for position: JournalState.Position in [-3, 1, 2, 5] { queue.insert(position, behindFirst: false) }
    for position: JournalState.Position in [5, 1, 2, 2] { queue.setUnnumbered(true, position) }
    expect(queue.unnumbered(before: 1), equals: nil)
    expect(queue.unnumbered(before: 2), equals: 1)
    expect(queue.unnumbered(before: 5), equals: 2)
    expect(queue.unnumbered(before: 9), equals: 5)
    queue.setUnnumbered(false, 2)
    queue.setUnnumbered(false, 4)
    expect(queue.unnumbered(before: 5), equals: 1)
    queue.setUnnumbered(false, 1)
    expect(queue.unnumbered(before: 5), equals: nil)
  }
}
