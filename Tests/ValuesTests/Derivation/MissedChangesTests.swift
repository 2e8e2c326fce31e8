import Foundation
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationDerivation

/// What the end of a run looks at, in the orders in which two threads may note their changes around the beginning of a run.
@Suite(.bounded)
struct MissedChangesTests {
  @Test
  func `A change that came while a run was under way is looked at once, at its end`() {
    var changes = MissedChanges()
    _ = changes.note()
    let taken = (changes.take(), changes.take())
    #expect(taken == (true, false))
  }

  @Test
  func `A thread that looks itself leaves nothing for the end of a run`() {
    var changes = MissedChanges()
    let note = changes.note()
    changes.forget(note)
    let isMissed = changes.take()
    #expect(!isMissed)
  }

  @Test
  func `A thread that found no run leaves the note of another one that found one`() {
    var changes = MissedChanges()
    let former = changes.note()
    // A run begins, and has read the source when the other thread changes it.
    _ = changes.note()
    changes.forget(former)
    let isMissed = changes.take()
    #expect(isMissed)
  }
}

/// The revision at which a query was found consistent, when several threads search at once.
@Suite(.bounded)
struct VerificationTests {
  @Test
  func `A slow search does not put the revision back at which a query was found consistent`() {
    let node = DerivationNode(name: "node", keptSources: [])
    let commit = DerivationCommit(readings: [:], hasFailed: false, height: 0)
    _ = node.replaceCommit(with: commit, .consistent, in: DerivationRevision())
    let found = (node.verify(commit, at: 3), node.verify(commit, at: 2))
    #expect(found == (true, true) && node.isVerified(at: 3))
  }
}

/// Changes that a query was notified of, and for which no run has brought a value.
@Suite(.bounded, .warningsAreIssues)
struct OwedRunTests {
  private let client = OperationClient.automatic()

  @Test
  func `A change whose run was cancelled is made up for when another source notifies the query of an equal value`()
    async
  {
    let (first, second, isCancelled) = (Cell("first", 1), Cell("second", 1), Box(false))
    let sum = Derived("sum") { context in
      let sum = try await context.value(of: first.query) + context.value(of: second.query)
      // As the run of a source ends that another thread cancels.
      if isCancelled.value { throw CancellationError() }
      return sum
    }
    let store = self.client.store(for: sum.query)
    let shown = Shown(store)
    await self.client.settledDerivations()
    isCancelled.value = true
    self.client.store(for: first.query).currentValue = 2
    await self.client.settledDerivations()
    expect(store.currentValue, equals: 2)
    isCancelled.value = false
    self.client.store(for: second.query).currentValue = 1
    await self.client.settledDerivations()
    #expect(store.currentValue == 3 && sum.calls.value == 3)
    // It is paid once.
    self.client.store(for: second.query).currentValue = 1
    await self.client.settledDerivations()
    expect(sum.calls.value, equals: 3)
    shown.end()
  }

  @Test
  func `A change that comes between the last subscriber and the next is looked at for the next`() {
    let (subscriberCount, reruns, source) = (Box(0), Counter(), SilentSource())
    let context = self.client.store(for: Cell("").query).context
    let node = DerivationNode(name: "node", keptSources: [])
    node.begin(
      DerivationNode.Controls(
        context: { context },
        isLoading: { false },
        isSettled: { true },
        subscriberCount: { subscriberCount.value },
        rerun: { _ in reruns.increment() },
        settled: {},
        restamp: { _, _, _ in },
        performInEventOrder: { $0() }
      )
    )
    let reading = OutdatedReading(source)
    let commit = DerivationCommit(readings: [reading.storeID: reading], hasFailed: false, height: 1)
    _ = node.replaceCommit(with: commit, .consistent, in: DerivationRevision())
    // Another thread is notified while nothing follows the query.
    node.rerunIfOutdated()
    expect(reruns.value, equals: 0)
    subscriberCount.value = 1
    node.followActivity()
    expect(reruns.value, equals: 1)
    // And not again for a subscriber that comes later.
    for count in [0, 1] {
      subscriberCount.value = count
      node.followActivity()
    }
    expect(reruns.value, equals: 1)
    node.end()
  }
}

/// A source that notifies no node by itself, as one to which a node has subscribed already.
private final class SilentSource: Source {
  let path: OperationPath = ["silent"]
  let (allowsAutomaticRuns, isInClient, hasResult, hasStalenessRules) = (true, true, true, true)
  let (isStale, hasFreshPeriodOfRun, isRefreshing, isInvalidated, hasFailed) = (false, false, false, false, false)
  let (lastInvalidation, resultCount) = (0, 1)

  var clock: any OperationClock { .systemTime }
  var derivationNode: DerivationNode? { nil }
  var freshEnd: Date? { nil }

  func subscribe(_ node: DerivationNode, runsIfStale: Bool) -> OperationSubscription { .empty }

  func observe(for revision: DerivationRevision) {}

  func performInEventOrder(_ action: @escaping @Sendable () -> Void) { action() }
}

/// What was read of a source that shows something else now.
private final class OutdatedReading: Reading {
  private let silent: SilentSource

  init(_ source: SilentSource) { self.silent = source }

  var storeID: ObjectIdentifier { ObjectIdentifier(self.silent) }
  var source: (any Source)? { self.silent }
  var isOfState: Bool { false }
  var valueStamp: ValueStamp { ValueStamp(.final) }

  func answersInvalidations() -> Bool { true }

  func isCurrent() -> Bool { false }

  func combined(with former: any Reading) -> any Reading { self }
}
