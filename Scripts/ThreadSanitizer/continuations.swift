// The checked forms await inside libswift_Concurrency, where `swift_continuation_await` of runtime.c is not called.
// These take their place in a sanitized test binary and await through it.

@_silgen_name("$ss23withCheckedContinuation9isolation8function_xScA_pSgYi_SSyScCyxs5NeverOGXEtYalF")
public func checkedContinuation<Value>(
  isolation: isolated (any Actor)?,
  function: String,
  _ body: (CheckedContinuation<Value, Never>) -> Void
) async -> sending Value {
  await withUnsafeContinuation { body(CheckedContinuation(continuation: $0, function: function)) }
}

@_silgen_name("$ss31withCheckedThrowingContinuation9isolation8function_xScA_pSgYi_SSyScCyxs5Error_pGXEtYaKlF")
public func checkedThrowingContinuation<Value>(
  isolation: isolated (any Actor)?,
  function: String,
  _ body: (CheckedContinuation<Value, any Error>) -> Void
) async throws -> sending Value {
  try await withUnsafeThrowingContinuation { body(CheckedContinuation(continuation: $0, function: function)) }
}
