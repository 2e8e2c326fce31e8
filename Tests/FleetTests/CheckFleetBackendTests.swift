import OperationFleet
import OperationFleetTesting
import OperationTesting
import TestFixtures
import Testing

/// The check of backends: each rule finds the backends that break it.
@Suite(.bounded) struct CheckFleetBackendTests {
  private static let faults: [(FleetBackendRule, BrokenFleet.Fault)] = [
    (.values, .truncatesBytes), (.values, .keepsFirstValue), (.values, .countsRevisionsAnew),
    (.keys, .foldsCase), (.keys, .takesPatterns), (.keys, .truncatesKeys),
    (.batches, .leavesOutMissing), (.batches, .reversesAnswers), (.batches, .invalidatesFirstOnly),
    (.batches, .reversesLeases), (.batches, .leavesOutLeases),
    (.timeToLive, .keepsForever), (.timeToLive, .hasNoAge),
    (.leases, .leasesToAll), (.leases, .leasesForever), (.leases, .releasesForOthers),
    (.tokens, .repeatsTokens),
    (.renewal, .renewsEnded), (.renewal, .forgetsRenewal),
    (.answers, .leasesBeforeValues), (.answers, .forgetsKnownRevision),
    (.fencing, .acceptsLateHolder), (.fencing, .leasesForever), (.fencing, .repeatsTokens),
    (.invalidations, .ignoresTags), (.invalidations, .ignoresPrefixes),
    (.lateValues, .acceptsLateValues), (.lateValues, .ignoresTags), (.lateValues, .keepsLeaseOfRefused),
    (.epochs, .repeatsEpochs), (.epochs, .answersOldEpoch),
    (.listing, .listsNothing), (.listing, .listsEach), (.listing, .forgetsNodes),
    (.forgetting, .listsFuture),
    (.messages, .isSilent), (.messages, .announcesAll), (.messages, .hidesReleases), (.messages, .hidesValues),
    (.concurrency, .leasesToAll), (.concurrency, .countsEpochsInPairs),
    (.connections, .isAlone),
    (.model, .acceptsLateValues), (.model, .forgetsKnownRevision), (.model, .ignoresTags), (.model, .reversesLeases),
    (.model, .listsEach), (.model, .releasesForOthers), (.model, .forgetsNodes), (.model, .countsRevisionsAnew),
    (.closing, .staysOpen),
  ]

  @Test(arguments: Self.faults.indices)
  func `A rule finds a backend that breaks it`(index: Int) async throws {
    let (rule, fault) = Self.faults[index]
    try await withKnownIssue {
      try await Self.check([rule], fault, within: .milliseconds(200))
    } matching: { issue in
      issue.comments.contains { $0.rawValue.hasPrefix("The backend breaks the rule '\(rule)': ") }
    }
  }

  @Test func `A sound backend keeps the rules`() async throws {
    try await Self.check(FleetBackendRule.allCases, .none)
  }

  @Test func `Each rule has a backend that breaks it, and each fault is found`() {
    expect(Set(Self.faults.map(\.0)), equals: Set(FleetBackendRule.allCases))
    expect(Set(Self.faults.map(\.1)), equals: Set(BrokenFleet.Fault.allCases.filter { $0 != .none }))
  }

  private static func check(
    _ rules: [FleetBackendRule],
    _ fault: BrokenFleet.Fault,
    within limit: Duration? = nil
  ) async throws {
    let clock = ManualClock()
    try await checkFleetBackend(
      rules,
      within: limit,
      connecting: { $0.another(clock) },
      passing: { _, duration in clock.advance(by: duration) },
      { BrokenFleet(fault, on: TestConnection(to: InMemoryFleet(deadlines: clock))) }
    )
  }
}
