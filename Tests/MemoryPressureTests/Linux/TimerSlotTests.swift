#if os(Linux)
  import OperationEventLoop
  import Testing

  @testable import OperationMemoryPressure

  /// The timer of the source, which fires on one thread and may be set on another.
  @Suite struct TimerSlotTests {
    private let loop = EventLoop()

    private func timer() -> EventLoop.Registration { self.loop.schedule(after: .seconds(3_600)) {} }

    @Test func `A timer takes the place of the one before`() {
      var slot = TimerSlot()
      let (first, second) = (self.timer(), self.timer())
      #expect(slot.keep(first, number: slot.takeNumber()) == nil)
      #expect(slot.keep(second, number: slot.takeNumber()) === first)
      #expect(slot.empty() === second)
      #expect(slot.empty() == nil)
    }

    @Test func `A timer that has fired before it is kept does not take the place of the next`() {
      var slot = TimerSlot()
      let (first, next) = (self.timer(), self.timer())
      let number = slot.takeNumber()
      #expect(slot.keep(next, number: slot.takeNumber()) == nil)
      #expect(slot.keep(first, number: number) === first)
      #expect(slot.empty() === next)
    }

    @Test func `A timer that was set before the end is not kept after it`() {
      var slot = TimerSlot()
      let timer = self.timer()
      let number = slot.takeNumber()
      #expect(slot.empty() == nil)
      #expect(slot.keep(timer, number: number) === timer)
      #expect(slot.empty() == nil)
    }
  }
#endif
