#if os(Linux)
  import TestFixtures
  import Testing

  @testable import OperationActivityObserving

  @Suite(.bounded) struct ActivityStateTests {
    /// Keeps the state, so that an expectation may change it.
    private final class Observed {
      private var state: ActivityState

      init(_ options: SignalActivityObserver.Options = .countsBackgroundAsActive, isForeground: Bool? = nil) {
        self.state = ActivityState(options: options)
        _ = self.state.reset(isForeground: isForeground)
      }

      func mark(isInactive: Bool) -> [Bool] { self.state.mark(isInactive: isInactive) }
      func update(isForeground: Bool?) -> [Bool] { self.state.update(isForeground: isForeground) }
      func resume(isForeground: Bool? = nil) -> [Bool] { self.state.resume(isForeground: isForeground) }
      func reset(isForeground: Bool? = nil) -> Bool { self.state.reset(isForeground: isForeground) }
    }

    @Test func `Marks are reported when they change something`() {
      let state = Observed()
      expect(state.mark(isInactive: false), equals: [])
      expect(state.mark(isInactive: true), equals: [false])
      expect(state.mark(isInactive: true), equals: [])
      expect(state.mark(isInactive: false), equals: [true])
    }

    @Test func `Continuing reports inactive and active, unless the process is inactive anyway`() {
      let state = Observed()
      expect(state.resume(), equals: [false, true])
      expect(state.mark(isInactive: true), equals: [false])
      expect(state.resume(), equals: [])
      expect(state.mark(isInactive: false), equals: [true])
    }

    @Test func `The background is inactive if it does not count as active, and only with a terminal`() {
      let state = Observed([], isForeground: true)
      expect(state.resume(isForeground: false), equals: [false])
      expect(state.resume(isForeground: false), equals: [])
      expect(state.resume(isForeground: true), equals: [true])
      expect(state.resume(isForeground: nil), equals: [false, true])
      expect(state.update(isForeground: false), equals: [false])
      expect(state.update(isForeground: nil), equals: [true])
    }

    @Test func `If the background counts as active, only coming to the foreground is reported`() {
      let state = Observed(isForeground: true)
      expect(state.update(isForeground: false), equals: [])
      expect(state.update(isForeground: false), equals: [])
      expect(state.update(isForeground: true), equals: [false, true])
      expect(state.update(isForeground: true), equals: [])
    }

    @Test func `A reset keeps marks, and discards what was observed earlier`() {
      let state = Observed([])
      expect(state.update(isForeground: false), equals: [false])
      #expect(state.reset())
      #expect(!state.reset(isForeground: false))
      expect(state.mark(isInactive: true), equals: [])
      #expect(!state.reset(isForeground: true))
    }

    @Test(arguments: UInt64(1)...10)
    func `Reported values alternate, whatever happens`(_ seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      let state = Observed(SignalActivityObserver.Options(rawValue: UInt8(seed % 4)))
      var last = true
      for _ in 0..<1_000 {
        let isForeground: Bool? = [nil, true, false][Int.random(in: 0..<3, using: &generator)]
        let values =
          switch Int.random(in: 0..<3, using: &generator) {
          case 0: state.mark(isInactive: Bool.random(using: &generator))
          case 1: state.update(isForeground: isForeground)
          default: state.resume(isForeground: isForeground)
          }
        for value in values {
          #expect(value != last)
          last = value
        }
      }
    }
  }
#endif
