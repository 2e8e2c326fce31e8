import OperationCore
import TestFixtures
import Testing

@Suite(.bounded) struct RetryPushbackTests {
  @Test(arguments: [
    ("0", RetryPushback.after(.zero)), ("250", .after(.milliseconds(250))),
    ("2147483647", .after(.milliseconds(2_147_483_647))), ("2147483648", .stop), ("-1", .stop), ("", .stop),
    ("nan", .stop), ("1.5", .stop), ("+5", .stop), (" 5", .stop), ("0x10", .stop), ("99999999999999999999", .stop),
  ])
  func `The trailer of gRPC is a number of milliseconds, or else stops`(text: String, pushback: RetryPushback) {
    expect(RetryPushback(grpcMilliseconds: text), equals: pushback)
  }
}
