import CTestSupport
import Testing

@testable import TenonTPM

@Test func probes() { #expect(SUPPORT_CC_SIGN == 0x15d) }
