#if os(Linux)
  import Testing

  @testable import OperationActivityObserving

  /// What is told when.
  @Suite struct ActivityStateTests {
    private final class Line {
      private var state: ActivityState

      init(_ options: SignalActivityObserver.Options = .countsBackgroundAsActive, isForeground: Bool? = nil) {
        self.state = ActivityState(options: options)
        _ = self.state.begin(isForeground: isForeground)
      }

      func mark(isInactive: Bool) -> [Bool] { self.state.mark(isInactive: isInactive) }
      func place(isForeground: Bool?) -> [Bool] { self.state.place(isForeground: isForeground) }
      func resume(isForeground: Bool? = nil) -> [Bool] { self.state.resume(isForeground: isForeground) }
      func begin(isForeground: Bool? = nil) -> Bool { self.state.begin(isForeground: isForeground) }
    }

    @Test func `Marks are reported when they change something`() {
      let line = Line()
      #expect(line.mark(isInactive: false) == [])
      #expect(line.mark(isInactive: true) == [false])
      #expect(line.mark(isInactive: true) == [])
      #expect(line.mark(isInactive: false) == [true])
    }

    @Test func `To go on is a pulse, unless the process is inactive anyway`() {
      let line = Line()
      #expect(line.resume() == [false, true])
      #expect(line.mark(isInactive: true) == [false])
      #expect(line.resume() == [])
      #expect(line.mark(isInactive: false) == [true])
    }

    @Test func `The background is inactive where it does not count, and only with a terminal`() {
      let line = Line([], isForeground: true)
      #expect(line.resume(isForeground: false) == [false])
      #expect(line.resume(isForeground: false) == [])
      #expect(line.resume(isForeground: true) == [true])
      #expect(line.resume(isForeground: nil) == [false, true])
      #expect(line.place(isForeground: false) == [false])
      #expect(line.place(isForeground: nil) == [true])
    }

    @Test func `Where the background counts, coming forward is a pulse and going back is nothing`() {
      let line = Line(isForeground: true)
      #expect(line.place(isForeground: false) == [])
      #expect(line.place(isForeground: false) == [])
      #expect(line.place(isForeground: true) == [false, true])
      #expect(line.place(isForeground: true) == [])
    }

    @Test func `A new beginning keeps marks, and nothing that was seen before`() {
      let line = Line([])
      #expect(line.place(isForeground: false) == [false])
      #expect(line.begin())
      #expect(!line.begin(isForeground: false))
      #expect(line.mark(isInactive: true) == [])
      #expect(!line.begin(isForeground: true))
    }

    @Test(arguments: UInt64(1)...10)
    func `Whatever happens, values alternate`(_ seed: UInt64) {
      var random = seed
      func next(_ count: UInt64) -> UInt64 {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (random >> 33) % count
      }
      let line = Line(SignalActivityObserver.Options(rawValue: UInt8(seed % 4)))
      var last = true
      for _ in 0..<1_000 {
        let place: Bool? = [nil, true, false][Int(next(3))]
        let told =
          switch next(3) {
          case 0: line.mark(isInactive: next(2) == 0)
          case 1: line.place(isForeground: place)
          default: line.resume(isForeground: place)
          }
        for value in told {
          #expect(value != last)
          last = value
        }
      }
    }
  }
#endif
