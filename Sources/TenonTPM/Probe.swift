internal import CTenon
internal import CTenonTPM

func probe() -> Int { tenon_tpm_key_max() }
