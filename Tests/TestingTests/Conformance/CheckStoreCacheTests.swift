import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct CheckStoreCacheTests {
  @Test func `A sound cache keeps the rules`() async throws {
    try await checkStoreCache { BrokenCache(.none) }
  }

  private static let faults: [(StoreCacheRule, BrokenCache.Fault, [String])] = [
    (
      .keeping, .evictsAtOnce,
      [
        """
        an idle store with the value 7 was evicted at once, so the next look-up found none. Keep idle stores until there \
        are too many, or until their time has passed.
        """
      ]
    ),
    (
      .cacheTime, .ignoresCacheTime,
      [
        """
        an idle store with a cache time of 5 seconds was gone after 4.999 seconds. Evict it when its time has passed.
        """,
        """
        an idle store with a cache time of 9 seconds was gone after 6 seconds. Read the time from the store's context.
        """,
      ]
    ),
    (
      .cacheTime, .keepsForever,
      [
        """
        Waited 0.2 seconds for idle stores with cache times of 5 and 9 seconds to be evicted after 10 seconds; 2 are \
        alive. Schedule with the deadlines of the store's context, and evict the store then.
        """
      ]
    ),
    (
      .cacheTime, .datesLate,
      [
        """
        `evictionDate(of:)` returned another date than the end of a cache time of 5 seconds. Return that end by the clock \
        of the store's context, or nil.
        """
      ]
    ),
    (
      .activity, .forgetsNoAlarm,
      [
        """
        an idle store with a cache time of 5 seconds was gone 4 seconds after it was in use. Remove it in \
        `storeDidBecomeActive(_:)`, and start its cache time again in `storeDidBecomeIdle(_:)`.
        """
      ]
    ),
    (
      .clients, .findsByPath,
      [
        """
        Waited 0.2 seconds for the idle stores of two clients at one path to be evicted after their cache time; 1 are \
        alive. Distinguish them by their `id`, not by their path.
        """
      ]
    ),
    (
      .release, .leaks,
      [
        """
        Waited 0.2 seconds for idle stores to be released after their client has removed them; 2 are alive. Release a \
        store in `storeDidBecomeActive(_:)`.
        """
      ]
    ),
    (
      .unlocked, .evictsLocked,
      [
        """
        a store was evicted with a lock held: another client could not use the cache for 0.2 seconds. Take the stores \
        out of the lock, and evict and release them after it.
        """
      ]
    ),
    (
      .unlocked, .releasesLocked,
      [
        """
        a store was released with a lock held: another client could not use the cache for 0.2 seconds. Take the stores \
        out of the lock, and evict and release them after it.
        """
      ]
    ),
    (
      .reentrancy, .writesLate,
      [
        """
        Waited 0.2 seconds for all idle stores to be evicted, also those that came and went while another one was \
        evicted; 4 are alive. Evict a copy of the stores, so that others may come and go meanwhile.
        """
      ]
    ),
  ]

  @Test(arguments: faults.indices)
  func `Each broken rule is found`(index: Int) async throws {
    let (rule, fault, issues) = Self.faults[index]
    let expected = issues.map { "The store cache breaks the rule '\(rule)': \($0)" }
    let found = try await recordedIssues(expecting: .all(expected)) { limit in
      try await checkStoreCache([rule], within: limit) { BrokenCache(fault) }
    }
    expect(found, equals: expected)
  }

  @Test func `A race of two threads is found`() async throws {
    let begin =
      "The store cache breaks the rule 'threads': Waited 3.0 seconds for all idle stores to be evicted that were made on "
      + "several threads at the same time; "
    let found = try await recordedIssues(within: .seconds(3), expecting: .firstBegins(with: begin)) { limit in
      try await checkStoreCache([.threads], within: limit) { BrokenCache(.losesAdditions) }
    }
    expect(found.first?.hasPrefix(begin), equals: true, "\(found)")
  }

  @Test func `Each rule has a double that breaks it`() {
    expect(Set(Self.faults.map(\.0) + [.threads]), equals: Set(StoreCacheRule.allCases))
  }

  @Test func `Exceptions are not checked`() async throws {
    try await checkStoreCache(except: [.keeping, .cacheTime, .activity, .clients]) { BrokenCache(.evictsAtOnce) }
  }
}
