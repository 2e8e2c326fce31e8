import OperationCore
import OperationFallback
import OperationTesting
import TestFixtures
import Testing

/// How long the stamp of a value says that it is fresh.
@Suite(.bounded, .warningsAreIssues) struct StampTests {
  private static let century = Duration.seconds(100 * 365 * 86_400)

  @Test(arguments: [
    (Duration(attoseconds: .max), Self.century), (Self.century, Self.century), (.seconds(60), .seconds(60)),
    (.zero, .zero), (.seconds(-1), .zero), (Duration(attoseconds: .min), .zero),
  ])
  func `A freshness is between zero and a hundred years`(_ said: Duration, _ kept: Duration) {
    var stamp = ValueStamp(.final)
    stamp.freshness = said
    expect(stamp.freshness, equals: kept)
    stamp.freshness = nil
    expect(stamp.freshness, equals: nil)
  }

  @Test func `A fallback that is fresh for as long as can be said is fresh`() async throws {
    let (clock, script) = (ManualClock(), IntScript(default: .error(Refused())))
    let store = IntStore.detached(
      query: script.query().fallback(9, use: .fresh(for: Duration(attoseconds: .max))).manualTime(clock)
    )
    try await expect(store.fetch(), equals: 9)
    #expect(!store.isStale)
    clock.advance(by: .seconds(1_000_000))
    #expect(!store.isStale)
  }
}
