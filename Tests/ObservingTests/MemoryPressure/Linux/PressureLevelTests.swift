#if os(Linux)
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  /// Times are in seconds.
  @Suite(.bounded) struct PressureLevelTests {
    /// Keeps the level, so that an expectation may change it.
    private final class Observed {
      var level = PressureLevel()

      func note(_ pressure: MemoryPressure, at seconds: Double) -> MemoryPressure? {
        self.level.note(pressure, at: .seconds(seconds))
      }

      func use(_ fraction: Double?, at seconds: Double) -> MemoryPressure? {
        self.level.note(usage: fraction, at: .seconds(seconds))
      }
    }

    @Test func `An event raises the level at once`() {
      let memory = Observed()
      expect(memory.note(.warning, at: 0), equals: .warning)
      expect(memory.note(.critical, at: 0.1), equals: .critical)
      expect(memory.note(.normal, at: 0.2), equals: nil)
      expect(memory.level.current, equals: .critical)
    }

    @Test func `The same level is reported again when it happens again, at most every two seconds`() {
      let memory = Observed()
      expect(memory.note(.warning, at: 0), equals: .warning)
      expect(memory.note(.warning, at: 1.9), equals: nil)
      expect(memory.note(.warning, at: 2), equals: .warning)
      expect(memory.note(.warning, at: 3), equals: nil)
    }

    @Test func `A lower level than the current one is not reported`() {
      let memory = Observed()
      expect(memory.note(.critical, at: 0), equals: .critical)
      expect(memory.note(.warning, at: 5), equals: nil)
      expect(memory.level.current, equals: .critical)
    }

    @Test func `Critical falls to warning while there are warnings, and to normal after ten calm seconds`() {
      let memory = Observed()
      expect(memory.note(.critical, at: 0), equals: .critical)
      expect(memory.note(.warning, at: 5), equals: nil)
      expect(memory.use(0.1, at: 9.9), equals: nil)
      expect(memory.use(0.1, at: 10), equals: .warning)
      expect(memory.use(0.1, at: 14.9), equals: nil)
      expect(memory.use(0.1, at: 15), equals: .normal)
      expect(memory.use(0.1, at: 17), equals: nil)
    }

    @Test func `Memory in use raises the level, and is reported once`() {
      let memory = Observed()
      expect(memory.use(0.84, at: 0), equals: nil)
      expect(memory.use(0.85, at: 10), equals: .warning)
      expect(memory.use(0.86, at: 20), equals: nil)
      expect(memory.use(0.95, at: 22), equals: .critical)
      expect(memory.use(0.99, at: 24), equals: nil)
    }

    @Test func `Memory in use lets the level fall only by a margin, and after ten calm seconds`() {
      let memory = Observed()
      expect(memory.use(0.96, at: 0), equals: .critical)
      expect(memory.use(0.92, at: 30), equals: nil)
      expect(memory.use(0.89, at: 32), equals: .warning)
      expect(memory.use(0.80, at: 60), equals: nil)
      expect(memory.use(0.79, at: 62), equals: .normal)
      expect(memory.use(0.90, at: 70), equals: .warning)
      expect(memory.use(0.5, at: 72), equals: nil)
      expect(memory.use(0.5, at: 80), equals: .normal)
    }

    @Test func `If the memory in use is unknown, only events count`() {
      let memory = Observed()
      expect(memory.note(.warning, at: 0), equals: .warning)
      expect(memory.use(nil, at: 9), equals: nil)
      expect(memory.use(nil, at: 10), equals: .normal)
    }

    @Test(arguments: UInt64(1)...20)
    func `One level is reported at a time, and the same one at most every two seconds`(_ seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      var level = PressureLevel()
      var now = Duration.zero
      var reports: [MemoryPressure: Duration] = [:]
      for _ in 0..<2_000 {
        now += .milliseconds(Int.random(in: 1...(Bool.random(using: &generator) ? 1_500 : 12_000), using: &generator))
        let before = level.current
        let report =
          switch Int.random(in: 0..<4, using: &generator) {
          case 0: level.note(.warning, at: now)
          case 1 where Bool.random(using: &generator): level.note(.critical, at: now)
          default: level.note(usage: Double.random(in: 0...1.2, using: &generator) - 0.2, at: now)
          }
        guard let report else {
          expect(level.current, equals: before)
          continue
        }
        expect(report, equals: level.current)
        #expect([MemoryPressure.normal, .warning, .critical].contains(report))
        if let last = reports[report] { #expect(now - last >= .seconds(2)) }
        reports[report] = now
      }
      expect(reports.count, equals: 3)
    }
  }
#endif
