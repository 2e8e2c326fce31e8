import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct CheckRunSpecificationTests {
  private typealias Fault = BrokenSource<Bool>.Fault

  @Test func `A sound specification keeps the rules`() async throws {
    try await checkRunSpecification { BrokenSpecification.checked(.none) }
  }

  @Test func `A specification that never changes needs no closure`() async throws {
    try await checkRunSpecification { (AlwaysRunSpecification(isTrue: true), nil) }
  }

  @Test func `A changing answer of one that never changes is found`() async throws {
    let issues = try await recordedIssues {
      try await checkRunSpecification {
        (BrokenSpecification(source: BrokenSource(false, fault: .forgets(other: true))), nil)
      }
    }
    expect(
      issues,
      equals: [
        """
        The run specification breaks the rule 'purity': of 100 calls of `isSatisfied(in:)` without a change, 14 returned \
        true and 86 false. Let `isSatisfied(in:)` read the condition, and nothing else.
        """,
        """
        The run specification breaks the rule 'threads': it never changes, but 28 of 200 calls of `isSatisfied(in:)` \
        returned another value than the first. Pass a closure that changes it if it can change.
        """,
      ]
    )
  }

  private static let faults: [(RunSpecificationRule, Fault, [String])] = [
    (
      .purity, .forgets(other: true),
      [
        """
        of 100 calls of `isSatisfied(in:)` without a change, 14 returned true and 86 false. Let `isSatisfied(in:)` read \
        the condition, and nothing else.
        """
      ]
    ),
    (
      .announcement, .skips,
      [
        """
        Waited 0.2 seconds for a call of `onChange` after the change to false; there were 1 calls, not 2. Call \
        `onChange` after each change.
        """
      ]
    ),
    (
      .answer, .early,
      [
        """
        Waited 0.2 seconds for `isSatisfied(in:)` to return true in `onChange`; there it returned [false]. Call \
        `onChange` after the change, not before it.
        """
      ]
    ),
    (
      .subscribers, .registry(.tenAtMost),
      [
        """
        Waited 0.2 seconds for a call of `onChange` of each of 100 subscriptions after a change; there were 0 calls, not \
        1. Keep and call all of them.
        """
      ]
    ),
    (
      .independence, .registry(.removesAll),
      [
        """
        Waited 0.2 seconds for a call of `onChange` of the subscriptions before and after one that was cancelled after a \
        change; there were 0 calls, not 1. Remove only the handler of the cancelled subscription.
        """
      ]
    ),
    (
      .cancellation, .registry(.removesNone),
      ["cancelled", "dropped"].map { end in
        """
        `onChange` was called 2 times after its subscription was \(end). Remove the handler in the closure of the \
        subscription.
        """
      }
    ),
    (
      .release, .registry(.leaks),
      ["cancelled", "dropped"].map { end in
        """
        Waited 0.2 seconds for `onChange` to be released after its subscription was \(end); 1 are alive. Release the \
        handler in the closure of the subscription.
        """
      }
    ),
    (
      .unlocked, .registry(.usesLocked),
      [
        """
        `onChange` was called with a lock held: another thread could not read or subscribe for 0.2 seconds. Take the \
        handlers out of the lock, and call and release them after it.
        """
      ]
    ),
    (
      .unlocked, .registry(.releasesLocked),
      [
        """
        `onChange` was released with a lock held: another thread could not read or subscribe for 0.2 seconds. Take the \
        handlers out of the lock, and call and release them after it.
        """
      ]
    ),
    (
      .reentrancy, .registry(.usesIndices),
      [
        """
        Waited 0.6 seconds for a call of `onChange` of a subscription behind one that cancels itself after a change; \
        there were 0 calls, not 1. Call a copy of the handlers, so that one may come or go \
        during the calls.
        """
      ]
    ),
    (
      .reentrancy, .registry(.usesLocked),
      [
        """
        `onChange` was called with a lock held: another thread could not read or subscribe for 0.2 seconds. Take the \
        handlers out of the lock, and call and release them after it.
        """
      ]
    ),
  ]

  @Test(arguments: faults.indices)
  func `Each broken rule is found`(index: Int) async throws {
    let (rule, fault, issues) = Self.faults[index]
    let expected = issues.map { "The run specification breaks the rule '\(rule)': \($0)" }
    let found = try await recordedIssues(expecting: .all(expected)) { limit in
      try await checkRunSpecification([rule], within: limit) { BrokenSpecification.checked(fault) }
    }
    expect(found, equals: expected)
  }

  @Test func `A race of two threads is found`() async throws {
    let begin =
      "The run specification breaks the rule 'threads': Waited 3.0 seconds for a call of `onChange` of each of 4 "
      + "subscriptions that were made on several threads at the same time after a change; "
    let found = try await recordedIssues(within: .seconds(3), expecting: .firstBegins(with: begin)) { limit in
      try await checkRunSpecification([.threads], within: limit) {
        BrokenSpecification.checked(.registry(.losesAdditions))
      }
    }
    expect(found.first?.hasPrefix(begin), equals: true, "\(found)")
    expect(found.first?.hasSuffix(" Guard what threads share by one lock."), equals: true)
  }

  @Test func `Each rule has a double that breaks it`() {
    expect(Set(Self.faults.map(\.0) + [.threads]), equals: Set(RunSpecificationRule.allCases))
  }

  @Test func `A specification that is satisfied at first is reported`() async throws {
    let found = try await recordedIssues {
      try await checkRunSpecification([.cancellation]) { (AlwaysRunSpecification(isTrue: true), { _ in }) }
    }
    expect(
      found,
      equals: [
        """
        The run specification breaks the rule 'cancellation': it is satisfied at first, so it cannot become satisfied. \
        Return one that is not satisfied.
        """
      ]
    )
  }

  @Test func `Exceptions are not checked`() async throws {
    try await checkRunSpecification(except: [.purity, .answer, .unlocked, .reentrancy]) {
      BrokenSpecification.checked(.registry(.usesLocked))
    }
    try await checkRunSpecification(except: [.release, .threads]) { BrokenSpecification.checked(.registry(.leaks)) }
  }
}
