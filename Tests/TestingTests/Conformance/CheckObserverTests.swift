import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct CheckObserverTests {
  private typealias Fault = BrokenSource<Int>.Fault

  @Test func `A sound observer keeps the rules`() async throws {
    try await checkObserver(sending: [1, 2, 3]) { .broken(.none) }
    try await checkObserver(sending: [1, 2, 3], except: [.current]) { .broken(.silentAtFirst) }
  }

  private static let faults: [(ObserverRule, Fault, Int?, [String])] = [
    (
      .current, .silentAtFirst, nil,
      [
        """
        the current value was 1, and a new handler without another subscriber had received [] when `subscribe` returned. \
        Call it with the current value before `subscribe` returns.
        """
      ]
    ),
    (
      .reading, .none, 3,
      [1, 2].map { value in
        """
        the observer returns 3 as its current value, and a new handler receives \(value). Read both from one place.
        """
      }
    ),
    (
      .changes, .skips, nil,
      ["Waited 0.2 seconds for the value 2 to be delivered; after it was sent, [] came. Deliver each change."]
    ),
    (
      .order, .repeats, nil,
      [
        """
        [1, 2, 3, 1, 2] were sent, and [0, 1, 2, 3, 1, 2] were delivered. Deliver the values one after the other, in the order in \
        which they came.
        """
      ]
    ),
    (
      .subscribers, .registry(.isReversed), nil,
      [
        """
        100 handlers were not called in the order of their subscriptions, but beginning with [99, 98, 97, 96, 95]. Keep \
        them in the order of their subscriptions.
        """
      ]
    ),
    (
      .subscribers, .registry(.latestOnly), nil,
      [
        """
        Waited 0.2 seconds for a call of the handler of each of 100 subscriptions after a change; there were 1 calls, \
        not 2. Keep and call all of them.
        """
      ]
    ),
    (
      .independence, .registry(.removesAll), nil,
      [
        """
        Waited 0.2 seconds for a call of the handler of the subscriptions before and after one that was cancelled after \
        a change; there were 1 calls, not 2. Remove only the handler of the cancelled subscription.
        """
      ]
    ),
    (
      .cancellation, .registry(.removesNone), nil,
      ["cancelled", "dropped"].map { end in
        """
        the handler was called 2 times after its subscription was \(end). Remove the handler in the closure of the \
        subscription.
        """
      }
    ),
    (
      .release, .registry(.leaks), nil,
      ["cancelled", "dropped"].map { end in
        """
        Waited 0.2 seconds for the handler to be released after its subscription was \(end); 1 are alive. Release the \
        handler in the closure of the subscription.
        """
      }
    ),
    (
      .unlocked, .registry(.usesLocked), nil,
      [
        """
        the handler was called with a lock held: another thread could not read or subscribe for 0.2 seconds. Take the \
        handlers out of the lock, and call and release them after it.
        """
      ]
    ),
    (
      .reentrancy, .registry(.usesIndices), nil,
      [
        """
        Waited 0.6 seconds for a call of the handler of a subscription behind one that cancels itself after a change; \
        there were 1 calls, not 2. Call a copy of the handlers, so that one may come or go \
        during the calls.
        """
      ]
    ),
    (
      .nesting, .nests, nil,
      [
        """
        Waited 0.2 seconds for the value 2 to be delivered; after it was sent, [2, 1] came. Queue a value that comes \
        while handlers are called, and deliver it after the current one.
        """
      ]
    ),
  ]

  @Test(arguments: faults.indices)
  func `Each broken rule is found`(index: Int) async throws {
    let (rule, fault, current, issues) = Self.faults[index]
    let expected = issues.map { "The observer breaks the rule '\(rule)': \($0)" }
    let found = try await recordedIssues(expecting: .all(expected)) { limit in
      try await checkObserver(sending: [1, 2, 3], [rule], within: limit) { .broken(fault, current: current) }
    }
    expect(found, equals: expected)
  }

  @Test func `A race of two threads is found`() async throws {
    let begin =
      "The observer breaks the rule 'threads': Waited 3.0 seconds for a call of the handler of each of 4 subscriptions "
    let found = try await recordedIssues(within: .seconds(3), expecting: .firstBegins(with: begin)) { limit in
      try await checkObserver(sending: [1, 2], [.threads], within: limit) { .broken(.registry(.losesAdditions)) }
    }
    expect(found.first?.hasPrefix(begin), equals: true, "\(found)")
  }

  @Test func `Each rule has a double that breaks it`() {
    expect(Set(Self.faults.map(\.0) + [.threads]), equals: Set(ObserverRule.allCases))
  }

  @Test(arguments: [[], [1], [1, 1], [1, 2, 1]])
  func `Values that make no changes are reported`(values: [Int]) async throws {
    let found = try await recordedIssues {
      try await checkObserver(sending: values) { .broken(.none) }
    }
    expect(
      found,
      equals: [
        """
        An observer cannot be checked with the values \(values). Pass at least two, each different from the previous \
        one, and the first one different from the last.
        """
      ]
    )
  }
}
