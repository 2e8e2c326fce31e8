import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct CheckControllerTests {
  @Test func `A sound controller keeps the rules`() async throws {
    try await checkController { query in
      let hub = Hub(.none)
      return (query.controlled(by: HubController(hub: hub)), { hub.act() })
    }
  }

  private static let faults: [(ControllerRule, Hub.Fault, Bool, [String])] = [
    (
      .start, .none, true,
      [
        """
        the controller has acted 1 times, and the store changed 2 times. Begin once in each call of `control(with:)`.
        """
      ]
    ),
    (
      .stores, .latestOnly, false,
      [
        """
        Waited 0.2 seconds for a change of each of 3 stores after the controller acted; it changed 0 times, not 1. Keep \
        the controls of each store.
        """
      ]
    ),
    (
      .independence, .removesAll, false,
      [
        """
        Waited 0.2 seconds for a change of the stores before and after one that has ended after the controller acted; it \
        changed 1 times, not 2. End only what belongs to the store of the cancelled subscription.
        """
      ]
    ),
    (
      .cancellation, .removesNone, false,
      [
        """
        the store changed 2 times after the subscription of the controller was cancelled. End everything in the \
        subscription that `control(with:)` returns.
        """
      ]
    ),
    (
      .release, .leaks, false,
      [
        """
        Waited 0.2 seconds for the context of a store to be released after the store's end; 1 are alive. Release the \
        controls in the subscription that `control(with:)` returns.
        """
      ]
    ),
    (
      .unlocked, .usesLocked, false,
      [
        """
        it acted with a lock held: another thread could not make a store for 0.2 seconds. Take the controls out of the \
        lock, and use them after it.
        """
      ]
    ),
    (
      .reentrancy, .usesIndices, false,
      [
        """
        Waited 0.6 seconds for a change of a store after one that ends while the controller acts after the controller \
        acted; it changed 0 times, not 1. Act on a copy of the controls, so that stores may come and go meanwhile.
        """
      ]
    ),
    (
      .reentrancy, .usesLocked, false,
      [
        """
        it acted with a lock held: another thread could not make a store for 0.2 seconds. Take the controls out of the \
        lock, and use them after it.
        """
      ]
    ),
  ]

  @Test(arguments: faults.indices)
  func `Each broken rule is found`(index: Int) async throws {
    let (rule, fault, isTwice, issues) = Self.faults[index]
    let expected = issues.map { "The controller breaks the rule '\(rule)': \($0)" }
    let found = try await recordedIssues(expecting: .all(expected)) { limit in
      try await checkController([rule], within: limit) { query in
        let hub = Hub(fault, isTwice: isTwice)
        return (query.controlled(by: HubController(hub: hub)), { hub.act() })
      }
    }
    expect(found, equals: expected)
  }

  @Test func `A race of two threads is found`() async throws {
    let begin =
      "The controller breaks the rule 'threads': Waited 3.0 seconds for a change of each of 4 stores that were made on "
      + "several threads at the same time "
    let found = try await recordedIssues(within: .seconds(3), expecting: .firstBegins(with: begin)) { limit in
      try await checkController([.threads], within: limit) { query in
        let hub = Hub(.losesAdditions)
        return (query.controlled(by: HubController(hub: hub)), { hub.act() })
      }
    }
    expect(found.first?.hasPrefix(begin), equals: true, "\(found)")
  }

  @Test func `Each rule has a double that breaks it`() {
    expect(Set(Self.faults.map(\.0) + [.threads]), equals: Set(ControllerRule.allCases))
  }

  @Test func `An operation without a controller is reported`() async throws {
    let found = try await recordedIssues { try await checkController([.start]) { ($0, {}) } }
    expect(
      found,
      equals: [
        """
        The controller breaks the rule 'start': the operation has no controller. Attach it with `controlled(by:)`.
        """
      ]
    )
  }
}

extension Hub {
  typealias Fault = Registry<OperationControls<HubController.State>>.Fault
}
